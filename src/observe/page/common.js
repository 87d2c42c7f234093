// What the pages of jobs and of clusters have in common.
'use strict';

const $ = id => document.getElementById(id);

// ---- words and numbers ----------------------------------------------------------------------

function human(value, unit = '') {
  if (value === null || value === undefined) return '–';
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let i = 0;
  while (Math.abs(value) >= 999.5 && i < prefixes.length - 1) { value /= 1000; i += 1; }
  if (Number.isInteger(value) && value < 10) return value + (prefixes[i] + unit ? ' ' + prefixes[i] + unit : '');
  const digits = i === 0 ? (Number.isInteger(value) || value >= 100 ? 0 : 1)
                         : value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toFixed(digits) + (prefixes[i] + unit ? ' ' + prefixes[i] + unit : '');
}
const bytes = value => human(value, 'B');
const rate = value => human(value).replace(/ ?$/, '') + '/s';
function duration(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds === 0) return '0 s';
  if (seconds < 0.001) return (seconds * 1e6).toFixed(0) + ' µs';
  if (seconds < 1) return (seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0) + ' ms';
  if (seconds < 120) return seconds.toFixed(seconds < 10 ? 2 : 1) + ' s';
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h`;
}
const percent = share => Math.round(100 * share) + ' %';
const count = (number, one, many) => `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
const clock = unix => new Date(unix * 1000).toLocaleTimeString('en-GB');

// ---- elements -------------------------------------------------------------------------------

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function text(x, y, words, attributes = {}) { return svg('text', { x, y, ...attributes }, words); }
function say(id, words) { if ($(id).textContent !== words) $(id).textContent = words; }

function table(id, heads, rows, left = 1) {
  const head = make('tr');
  heads.forEach((name, i) => head.append(make('th', { scope: 'col', class: i < left ? 'left' : '' }, name)));
  const body = make('tbody');
  for (const row of rows) {
    const line = make('tr');
    row.forEach((cell, i) => {
      const attributes = i === 0 ? { scope: 'row' } : {};
      if (i < left) attributes.class = 'left';
      line.append(make(i === 0 ? 'th' : 'td', attributes, cell));
    });
    body.append(line);
  }
  const caption = $(id).caption;
  $(id).replaceChildren(...(caption ? [caption] : []), make('thead', {}, head), body);
}
function pairs(list) {
  const dl = make('dl');
  for (const [name, value] of list) dl.append(make('dt', {}, name), make('dd', {}, value));
  return dl;
}

// ---- the log: the element with that id ------------------------------------------------------

/// Stays at its end for whoever was there.
function drawLines(lines) {
  const log = $('log');
  const key = lines.length + '/' + (lines.length ? lines[lines.length - 1].at_unix : 0);
  if (log.dataset.shown === key) return;
  log.dataset.shown = key;
  const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 30;
  log.replaceChildren(...lines.map(line => make('span', { class: line.level }, `${clock(line.at_unix)} ${line.level === 'info' ? '' : line.level + ': '}${line.text}\n`)));
  if (lines.length === 0) log.append('Nothing yet.');
  if (follows) log.scrollTop = log.scrollHeight;
}

async function askForLines() {
  try {
    const response = await fetch('/api/v1/log', { signal: AbortSignal.timeout(GIVE_UP_MS), cache: 'no-store' });
    if (response.ok) drawLines((await response.json()).lines);
  } catch { /* The next time says more. */ }
}

// ---- asking ---------------------------------------------------------------------------------

const EVERY_MS = 1000, GIVE_UP_MS = 5000;
let heard = null;

/// Has `draw` show what `path` says, once a second. `silent` is called when nobody answers, with since when
/// that is so; a refusal is shown, and why there is no answer now.
async function follow(path, draw, silent) {
  if (!document.hidden) {
    try {
      const response = await fetch(path, { signal: AbortSignal.timeout(GIVE_UP_MS), cache: 'no-store' });
      if (!response.ok) throw new Error((response.status === 503 ? '' : 'Refused: ') + (await response.text()).trim());
      draw(await response.json());
      heard = new Date();
    } catch (error) {
      if (error instanceof TypeError || error.name === 'TimeoutError') {
        silent(heard ? ` since ${heard.toLocaleTimeString('en-GB')}; this is what was known then` : '');
      } else {
        showTrouble(error.message);
      }
    }
  }
  setTimeout(() => follow(path, draw, silent), EVERY_MS);
}

function showTrouble(words) {
  say('stale', words);
  $('stale').hidden = false;
  say('phase', 'no answer');
  $('phase').className = 'phase bad';
}
