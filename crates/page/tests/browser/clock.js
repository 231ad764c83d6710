'use strict';
(() => {
  const real = { now: Date.now.bind(Date), setTimeout: setTimeout.bind(window), setInterval: setInterval.bind(window), fetch: window.fetch.bind(window), EventSource };
  const timers = new Map();
  let added = 0, last = 0;
  const now = () => real.now() + added;
  function add(f, ms, every) { timers.set(++last, { f, at: now() + (ms || 0), every }); return last; }
  function run() {
    for (const [id, timer] of [...timers].sort((a, b) => a[1].at - b[1].at)) {
      if (timer.at > now() || !timers.has(id)) continue;
      if (timer.every) timer.at = now() + timer.every; else timers.delete(id);
      timer.f();
    }
  }
  Date.now = now;
  window.setTimeout = (f, ms) => add(f, ms, 0);
  window.setInterval = (f, ms) => add(f, ms, ms);
  window.clearTimeout = (id) => timers.delete(id);
  real.setInterval(run, 10);

  const test = window.test = { sources: [], reads: [], exchanged: 0, pending: 0 };
  window.EventSource = class extends real.EventSource {
    constructor(url) { super(url); test.sources.push(this); }
  };
  window.fetch = async (url, options) => {
    test.reads.push((options && options.method || 'GET') + ' ' + url);
    test.pending += 1;
    try {
      const response = await real.fetch(url, options), text = response.text.bind(response);
      response.text = async () => { test.pending += 1; try { return await text(); } finally { test.pending -= 1; } };
      return response;
    } finally { test.pending -= 1; }
  };
  const sleep = (ms) => new Promise((done) => real.setTimeout(done, ms));
  // Advances the clock in steps, each of a second; requests of the page end in between, and streams open.
  test.advance = async (seconds, step = 1) => {
    for (let second = 0; second < seconds; second += step) {
      added += 1000 * step;
      run();
      while (test.pending || test.sources.some((one) => one.readyState === 0)) await sleep(1);
    }
    await sleep(20);
  };
  // Hides and shows the tab.
  let hidden = false;
  Object.defineProperty(document, 'hidden', { get: () => hidden });
  test.hide = (value) => { hidden = value; document.dispatchEvent(new Event('visibilitychange')); };
  // Counts sections that updates exchange.
  document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver((found) => {
      for (const one of found) test.exchanged += [...one.addedNodes].filter((node) => node.dataset && node.dataset.part).length;
    }).observe(document.getElementById('main'), { childList: true, subtree: true });
  });
})();
