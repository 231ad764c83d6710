local function each(act)
  for path in ("@DIVERTED@"):gmatch("%S+") do
    act(path, "/usr/libexec/mooring/" .. path:match("[^/]+$"))
  end
end
-- A file that was kept by hand before the first installation stays.
local function divert(path, ours, is_first)
  if posix.readlink(path) == ours then return end
  if is_first and posix.stat(path .. ".go") then os.remove(path) end
  if posix.stat(path) then os.rename(path, path .. ".go") end
  posix.symlink(ours, path)
end
local function restore(path, ours)
  if posix.readlink(path) ~= ours then return end
  os.remove(path)
  if posix.stat(path .. ".go") then os.rename(path .. ".go", path) end
end
