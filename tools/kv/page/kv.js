// Draws what /api/v1/replica says, once a second, and the last lines of the log.
'use strict';

function drawSummary(one) {
  const last = one.checkpoints.last;
  const fetches = one.pieces_of > 0;
  const tiles = [
    ['Group', `${one.here} of ${one.members.length}`, `${one.quorum} have to take part`, one.here < one.members.length],
    ['Leader', String(one.leader), `for ${duration(Math.floor(one.leader_for))}, ${count(one.leader_changes, 'change', 'changes')}`, false],
    ['Ordered', rate(one.ordered_per_second), `${human(one.ordered)} in all`, false],
    ['Reads', rate(one.reads_per_second), `${human(one.reads)} in all`, false],
    ['Waiting', human(one.waiting), 'to be ordered', false],
    ['Clients', human(one.clients), one.clients === 1 ? 'connection' : 'connections', false],
    ['Checkpoint', last ? bytes(last.bytes) : 'none', last ? `${duration(Math.floor(last.age))} ago, took ${duration(last.took)}` : 'since it began', false],
  ];
  if (fetches) tiles.push(['Fetches', `${one.pieces} of ${one.pieces_of}`, 'pieces of a checkpoint', true]);
  $('summary').replaceChildren(...tiles.map(([name, value, small, bad]) =>
    make('div', bad ? { class: 'bad' } : {}, make('dt', {}, name), make('dd', {}, value, make('small', {}, small)))));
}

function drawMembers(one) {
  table('members', ['Member', 'Address', 'Does', 'Instance', 'Behind'], one.members.map(member =>
    [String(member.id) + (member.id === one.id ? ' (this one)' : ''), member.address,
      !member.connected ? 'not connected' : member.leads ? 'leads' : 'follows',
      member.newest ? human(member.newest) : '–', human(member.behind)]), 3);
}

function drawPast(past) {
  const most = Math.max(1, ...past.ordered, ...past.reads);
  const width = Math.max(260, $('past').clientWidth), height = 150, left = 58, base = height - 20;
  const span = Math.max(60, past.ago[0]);
  const x = ago => width - 10 - (width - 10 - left) * ago / span;
  const y = value => base - (base - 8) * value / most;
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `Operations a second over the last ${duration(Math.floor(span))}, at most ${human(most)}` });
  for (const part of [0, 0.5, 1]) {
    picture.append(svg('line', { x1: left, x2: width - 10, y1: y(part * most), y2: y(part * most), class: 'grid' }),
      text(left - 6, y(part * most) + 4, human(part * most), { class: 'axis', 'text-anchor': 'end' }));
  }
  for (const ago of [span, span / 2, 0]) {
    picture.append(text(x(ago), height - 4, ago ? `${duration(Math.floor(ago))} ago` : 'now', { class: 'axis',
      'text-anchor': ago === span ? 'start' : ago ? 'middle' : 'end' }));
  }
  for (const [values, name] of [[past.ordered, 'l-in'], [past.reads, 'l-out']]) {
    picture.append(svg('polyline', { class: name, points: past.ago.map((ago, i) => `${x(ago).toFixed(1)},${y(values[i]).toFixed(1)}`).join(' ') }));
  }
  $('past').replaceChildren(picture);
}

function draw(one) {
  const words = !one.takes_part ? 'takes no part' : one.leads ? 'leads' : `follows ${one.leader}`;
  say('title', `Replica ${one.id} of ${one.group}`);
  say('phase', words);
  $('phase').className = 'phase ' + (!one.takes_part ? 'bad' : one.here < one.members.length ? 'change' : 'good');
  document.title = `${words} – replica ${one.id} of ${one.group}`;
  $('stale').hidden = one.takes_part;
  if (!one.takes_part) say('stale', `It takes no part: ${one.trouble}.`);
  drawSummary(one);
  drawMembers(one);
  drawPast(one.past);
  askForLines();
  say('footer', `Piracema ${one.version} · ${one.address} · view ${one.view}, regency ${one.regency}, ${one.decided} instances decided`);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

follow('/api/v1/replica', draw, since => showTrouble(`No answer${since}. The replica has ended, or its machine is away.`));
