'use strict';
(() => {
  const root = document.documentElement;
  const one = (id) => document.getElementById(id);
  const POLL = 10000, AGAIN = 60000, CHECK = 10000, ANSWER = 5000, PAUSE = 500, HIDDEN = 300000;
  let offset = 0, source = null, refused = false, refreshing = false, again = false, checked = Date.now(), last = 0;
  let lostAt = null, retryAt = 0, attempts = 0, hiddenTimer = 0, asleep = false, missed = false, tried = 0, waiting = 0, verdict = headline(document);

  // Theme: as the system, or a choice of this browser.
  const words = { auto: 'system', light: 'light', dark: 'dark' };
  let theme = 'auto';
  try { theme = localStorage.getItem('mooring-theme') || 'auto'; } catch { /* no storage */ }
  function showTheme() {
    if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
    const button = one('theme');
    if (button) { button.hidden = false; button.setAttribute('aria-label', 'Theme: ' + (words[theme] || 'system')); }
  }
  showTheme();

  document.addEventListener('click', (event) => {
    const copy = event.target.closest('[data-copy]');
    if (event.target.closest('#theme')) {
      theme = { auto: 'dark', dark: 'light' }[theme] || 'auto';
      try { localStorage.setItem('mooring-theme', theme); } catch { /* no storage */ }
      showTheme();
    } else if (event.target.closest('#retry')) {
      retryAt = 0; tick();
    } else if (copy && navigator.clipboard) {
      navigator.clipboard.writeText(copy.dataset.copy).then(() => {
        copy.textContent = 'Copied'; say('Copied');
        setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
      }, () => say('Copying is not allowed'));
    }
  });

  function say(text) { one('say').textContent = text; }
  function headline(page) { const found = page.querySelector('[data-part=verdict] h2'); return found ? found.textContent : ''; }
  function span(s) {
    const two = (n) => String(n).padStart(2, '0');
    if (s < 60) return s + ' s';
    if (s < 3600) return Math.floor(s / 60) + ' min' + (s % 60 ? ' ' + two(s % 60) + ' s' : '');
    if (s < 172800) return Math.floor(s / 3600) + ' h ' + two(Math.floor(s / 60) % 60) + ' min';
    return Math.floor(s / 86400) + ' days';
  }
  function setClock() { const at = +(one('main').dataset.now || 0); if (at) offset = at - Date.now(); }
  function showTimes() {
    const now = Date.now() + offset;
    for (const time of document.querySelectorAll('[data-since]')) {
      const text = span(Math.max(0, Math.floor((now - Date.parse(time.dateTime)) / 1000)));
      if (time.textContent !== text) time.textContent = text;
    }
  }
  function showButtons(part) { for (const button of part.querySelectorAll('[data-copy]')) button.hidden = !navigator.clipboard; }

  // Exchanges sections whose revision changed. Focus, selection, scroll position and open details stay. A hidden tab changes
  // its title only.
  async function exchange(page) {
    const main = one('main'), next = page.getElementById('main');
    if (!next) return;
    main.dataset.now = next.dataset.now; setClock();
    document.title = page.title;
    missed = document.hidden;
    if (missed) return;
    const [head, newHead] = [document.querySelector('header.top .who'), page.querySelector('header.top .who')];
    if (head && newHead && head.innerHTML !== newHead.innerHTML) head.innerHTML = newHead.innerHTML;
    const live = page.getElementById('live'), pill = page.getElementById('pill');
    if (live && pill) { one('live').dataset.live = live.dataset.live || live.textContent; pillClass = pill.className; showLive(); }
    if ('loading' in main.dataset && !('loading' in next.dataset)) { location.reload(); return; }
    for (const fresh of next.querySelectorAll('[data-part]')) {
      const old = main.querySelector('[data-part="' + fresh.dataset.part + '"]');
      if (!old || old.dataset.revision === fresh.dataset.revision) continue;
      const chosen = getSelection();
      if (chosen && !chosen.isCollapsed && chosen.containsNode(old, true)) { again = true; continue; }
      replace(old, fresh);
      // Each section is a short task of its own, so that the page stays responsive.
      await new Promise((next) => setTimeout(next));
    }
    const text = headline(document);
    if (text !== verdict) { verdict = text; if (text) say(text); }
    showTimes();
  }
  function name(node) {
    return node.id ? '#' + CSS.escape(node.id) : ['href', 'data-copy', 'data-key'].filter((a) => node.hasAttribute(a))
      .map((a) => node.localName + '[' + a + '="' + CSS.escape(node.getAttribute(a)) + '"]')[0];
  }
  function replace(old, fresh) {
    const active = old.contains(document.activeElement) ? document.activeElement : null;
    const holder = active && (active.closest('[data-key]') || active);
    const key = active && (name(active) || (holder && name(holder)));
    const open = [...old.querySelectorAll('details[open][data-key]')].map((one) => one.dataset.key);
    const top = scrollY, scrolled = [...old.querySelectorAll('.cmd code')].map((one) => one.scrollLeft);
    for (const details of fresh.querySelectorAll('details[data-key]')) details.open = open.includes(details.dataset.key);
    fresh = document.adoptNode(fresh);
    old.replaceWith(fresh);
    showButtons(fresh);
    fresh.querySelectorAll('.cmd code').forEach((one, at) => { one.scrollLeft = scrolled[at] || 0; });
    if (key) {
      let found = fresh.querySelector(key);
      if (found && active.localName === 'summary') found = found.querySelector('summary') || found;
      (found || one('main')).focus({ preventScroll: true });
    }
    if (scrollY !== top) scrollTo({ top, behavior: 'instant' });
  }

  let pillClass = one('pill').className;
  async function refresh() {
    if (refreshing) { again = true; return; }
    refreshing = true; again = false; last = Date.now();
    try {
      const response = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER) });
      if (response.status >= 500 || response.status === 403) throw new Error(String(response.status));
      await exchange(new DOMParser().parseFromString(await response.text(), 'text/html'));
      found();
    } catch { lost(); }
    refreshing = false;
    if (again) schedule();
  }
  // At most two exchanges per second.
  function schedule() {
    if (waiting) return;
    waiting = setTimeout(() => { waiting = 0; refresh(); }, Math.max(again ? 1000 : 0, last + PAUSE - Date.now()));
  }

  function showLive() {
    const text = one('live').dataset.live || 'Live';
    if (one('pill').className !== pillClass) one('pill').className = pillClass;
    if (one('live').textContent !== text) one('live').textContent = text;
  }
  function found() {
    checked = Date.now(); attempts = 0;
    if (lostAt === null) return;
    lostAt = null;
    one('offline').hidden = true;
    showLive();
    if (!source && !refused) connect();
  }
  function lost() {
    disconnect(); refused = false;
    if (lostAt === null) lostAt = checked;
    attempts += 1;
    retryAt = Date.now() + Math.min(1000 * attempts, 4000);
    one('pill').className = 'pill offline';
    one('live').textContent = 'Not live';
    showLost();
  }
  function showLost() {
    const box = one('offline'), since = new Date(lostAt + offset).toISOString().slice(11, 19);
    if (box.hidden || !box.firstChild) {
      box.innerHTML = '<b></b> <span></span> <button type="button" class="copy" id="retry">Try now</button>';
      box.firstChild.textContent = 'Not live since ' + since + '.';
      box.hidden = false;
    }
    const left = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    box.querySelector('span').textContent = 'You see the state of that time. The server does not respond; next attempt in ' + left + ' s.';
  }

  function connect() {
    disconnect(); refused = false; tried = Date.now();
    const opened = source = new EventSource('/api/v1/events');
    opened.onopen = () => { if (opened === source) { checked = Date.now(); refresh(); } };
    for (const kind of ['status', 'fleet', 'failure', 'node', 'run', 'controller']) {
      opened.addEventListener(kind, () => { checked = Date.now(); schedule(); });
    }
    opened.onerror = () => {
      if (opened !== source) return;
      // Closed at once: too many streams, so this page polls. Otherwise the server is away.
      refused = opened.readyState === EventSource.CLOSED;
      disconnect();
      refresh();
      if (!refused) setTimeout(() => { if (!source && !refused && lostAt === null && !document.hidden) connect(); }, 1000);
    };
  }
  function disconnect() { if (source) { source.close(); source = null; } }

  async function check() {
    checked = Date.now();
    try {
      const response = await fetch('/api/v1/status', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(ANSWER) });
      if (!response.ok) throw new Error(String(response.status));
    } catch { lost(); }
  }
  function tick() {
    if (asleep) return;
    if (!document.hidden) showTimes();
    if (lostAt !== null) { if (Date.now() >= retryAt) { retryAt = Date.now() + ANSWER; refresh(); } else showLost(); return; }
    if (refused && Date.now() - tried > AGAIN) { connect(); return; }
    if (refused && Date.now() - last > POLL) { refresh(); return; }
    if (Date.now() - checked > CHECK) check();
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) { hiddenTimer = setTimeout(() => { asleep = true; disconnect(); }, HIDDEN); return; }
    const slept = asleep;
    asleep = false;
    if (lostAt !== null) { retryAt = 0; tick(); } else if (slept || (!source && !refused)) connect(); else if (missed) schedule();
  });
  setClock(); showButtons(document); showTimes(); connect();
  setInterval(tick, 1000);
})();
