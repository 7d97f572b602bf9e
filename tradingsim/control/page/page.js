'use strict';
// Everything that comes from outside is set as text: there is no markup to escape.
(() => {
  const root = '/_sim/v1';
  const kept = 200;
  const $ = (id) => document.getElementById(id);

  const el = (name, text, className) => {
    const node = document.createElement(name);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    return node;
  };
  const show = (node, yes) => { node.hidden = !yes; };

  // ---- the control API

  let quiet;
  const say = (text) => {
    $('said').textContent = text;
    clearTimeout(quiet);
    quiet = setTimeout(() => { $('said').textContent = ''; }, 4000);
  };

  const ask = async (method, path, body) => {
    const options = { method, credentials: 'same-origin' };
    if (body !== undefined) {
      options.headers = { 'Content-Type': 'application/json' };
      options.body = JSON.stringify(body);
    }
    const answer = await fetch(root + path, options);
    if (answer.status === 204) return null;
    const value = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(value.message), { status: answer.status });
    return value;
  };
  // change asks for something and says how it went.
  const change = async (method, path, body, text) => {
    try {
      await ask(method, path, body);
      if (text) say(text);
    } catch (problem) {
      say(problem.message);
    }
  };

  // ---- what is known

  let state = null;
  let samples = [];
  let market = '';
  let account = null;
  const writes = new Map();
  const requests = new Map();
  let refused = 0;
  let ledger = [];
  let planned = [];

  const forgetOldest = (map, most) => { while (map.size > most) map.delete(map.keys().next().value); };
  // Reads are many, and say little: they go first.
  const isRead = (r) => r.operation.startsWith('GET ') && !r.fault;
  const reads = new Map();
  const keepRequest = (key, r) => {
    requests.set(key, r);
    if (isRead(r)) reads.set(key, r);
    for (const old of [...reads.keys()].slice(0, -kept)) {
      reads.delete(old);
      requests.delete(old);
    }
    forgetOldest(requests, 1000);
  };

  // ---- numbers and times

  const money = (text) => {
    if (text === null || text === undefined || text === '') return '–';
    const [whole, rest] = String(text).split('.');
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
    return rest ? grouped + '.' + rest : grouped;
  };
  const cents = (text) => (text === null || text === undefined ? '–' : money(Number(text).toFixed(2)));
  const clock = (at) => new Date(at).toLocaleTimeString('en-GB');
  const accountName = (id) => (id ? id : 'sandbox');

  // ---- tables

  const cell = (content, className) => {
    const td = el('td', undefined, className);
    for (const part of [content].flat()) {
      if (part instanceof Node) td.append(part, ' ');
      else td.append(String(part ?? ''));
    }
    if (className === 'cut') td.title = td.textContent;
    return td;
  };
  const fill = (id, rows, nothing) => {
    const body = $(id).tBodies[0];
    const heads = $(id).tHead.rows[0].cells;
    for (const tr of rows) { // on a phone a row is a line, and some of its cells need their names
      for (const td of tr.cells) if (heads[td.cellIndex].dataset.line) td.dataset.line = heads[td.cellIndex].dataset.line;
    }
    if (rows.length === 0) {
      const td = el('td', nothing, 'empty');
      td.colSpan = heads.length;
      const tr = el('tr');
      tr.append(td);
      rows = [tr];
    }
    body.replaceChildren(...rows);
  };
  const row = (...cells) => {
    const tr = el('tr');
    tr.append(...cells);
    return tr;
  };
  const pnlClass = (pnl) => (Number(pnl) < 0 ? 'bad' : Number(pnl) > 0 ? 'good' : '');
  const sideClass = (side) => (side === 'long' ? 'good' : 'bad');

  const level = (text) => cell(text === null ? '' : money(text), 'num');

  const drawPositions = () => {
    const rows = [];
    const waiting = [];
    for (const a of state.accounts) {
      for (const p of a.positions) {
        rows.push(row(cell(accountName(a.id)), cell(p.symbol), cell(p.side, sideClass(p.side)), cell(money(p.size), 'num'),
          cell(cents(p.entryPrice), 'num'), cell(cents(p.pnl), 'num ' + pnlClass(p.pnl)),
          level(p.stopLoss), level(p.takeProfit)));
      }
      for (const o of a.orders) {
        waiting.push(row(cell(accountName(a.id)), cell(o.id), cell(o.reduceOnly ? 'limit, reduces' : 'limit'), cell(o.symbol),
          cell(o.side, sideClass(o.side)), cell(money(o.size), 'num'), cell(money(o.limitPrice), 'num')));
      }
      for (const r of a.runs) {
        waiting.push(row(cell(accountName(a.id)), cell(r.id), cell(r.type), cell(r.symbol), cell(r.side, sideClass(r.side)),
          cell(money(r.executed) + ' of ' + money(r.size), 'num'), cell('')));
      }
    }
    fill('positions', rows, 'No position is open.');
    fill('orders', waiting, 'Nothing waits.');
  };

  const marksOf = (e) => {
    const from = requests.get(e.request);
    const marks = [];
    if (e.copy) marks.push(el('span', 'copy', 'tag bad'));
    if (from && from.fault) marks.push(el('span', from.fault, 'tag warn'));
    return marks;
  };
  const verbOf = (e) => (e.filled ? (e.side === 'long' ? 'bought' : 'sold') : (e.operation || ''));

  const drawLedger = () => {
    fill('ledger', ledger.slice().reverse().map((e) => {
      return row(cell(e.id, 'num'), cell(verbOf(e), e.filled ? sideClass(e.side) : ''), cell(e.size ? money(e.size) : '', 'num'), cell(e.symbol),
        cell([(e.actor === 'api' ? 'request' : e.actor) + (e.request ? ' ' + e.request : '') + ' ', ...marksOf(e)]),
        cell(e.price ? money(e.price) : '', 'num'), cell(accountName(e.account)), cell(clock(e.at)));
    }), 'Nothing has been executed.');
  };

  const drawRequests = () => {
    const all = $('reads').checked;
    const rows = [];
    for (const r of [...requests.values()].reverse()) {
      if (!all && isRead(r)) continue;
      if (rows.length === kept) break;
      let answer = ['on its way'];
      if (r.ended) {
        answer = r.status ? [String(r.status) + ' '] : [];
        if (!r.delivered) answer.push(el('span', r.refused ? 'no connection' : r.status ? 'cut off' : 'no answer', 'bad'));
      }
      const key = (r.header && r.header['Idempotency-Key'] || [''])[0];
      rows.push(row(cell(r.id || '–', 'num'), cell(r.operation, 'cut'), cell(answer),
        cell(r.fault ? [el('span', r.fault, 'tag warn')] : ''), cell(clock(r.at)), cell(key, 'cut')));
    }
    fill('requests', rows, 'Nothing has been sent.');
  };

  // What a write did is what its market executed after the write began and before the market's
  // next write began. The bot begins none while another is pending there.
  const executionsOf = (all) => {
    const did = new Map(all.map((w) => [w.id, []]));
    for (const e of ledger) {
      if (e.actor !== 'api') continue;
      const environment = e.account ? 'live' : 'sandbox';
      const of = all.filter((w) => w.symbol === e.symbol && w.environment === environment && w.after < e.id).pop();
      if (of) did.get(of.id).push(e);
    }
    return did;
  };
  const agrees = (w, did) => {
    if (w.outcome !== 'applied' && w.outcome !== 'not applied') return undefined;
    return did.filter((e) => !e.copy).length === (w.outcome === 'applied' ? 1 : 0); // a copy is a fault's doing
  };
  const signs = new Map([[undefined, ['…', 'warn', 'not known yet']], [true, ['=', 'good', 'agrees']], [false, ['≠', 'bad', 'differs']]]);

  const outcomes = { sending: 'soft', pending: 'warn', applied: 'good', 'not applied': 'bad' };
  const drawWrites = () => {
    const all = [...writes.values()].slice(-50);
    show($('bot'), all.length > 0);
    $('main').classList.toggle('traded', all.length > 0);
    const did = executionsOf(all);
    let decided = 0;
    let differ = 0;
    fill('writes', all.map((w) => {
      const steps = [...(w.steps || [])];
      const same = agrees(w, did.get(w.id));
      if (same !== undefined) decided++;
      if (same === false) differ++;
      if (w.outcome === 'pending' && steps.length === 1) steps.push('finding out …');
      const [sign, signClass, word] = signs.get(same);
      const mark = el('span', sign, 'sign ' + signClass);
      mark.title = word;
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', word);
      const done = did.get(w.id).map((e) => {
        const line = el('span', '#' + e.id + ' ' + verbOf(e) + ' ' + money(e.size) + ' ' + e.symbol + ' at ' + money(e.price) + ' ');
        line.append(...marksOf(e));
        return line;
      });
      const tr = row(cell(clock(w.at), 'soft'), cell(w.text + ', ' + w.environment), cell([el('span', w.outcome, 'tag ' + (outcomes[w.outcome] || 'soft'))]),
        cell(steps.join(' → '), steps.length > 1 || w.outcome === 'pending' ? 'steps' : 'steps soft'),
        cell([mark, ...(done.length ? done : [el('span', 'nothing', 'soft')])], 'did'));
      if (w.outcome === 'pending') tr.className = 'pending';
      return tr;
    }).reverse(), '');
    const open = all.length - decided;
    const parts = [];
    if (decided) parts.push([decided - differ + ' of ' + decided + ' decided writes agree with the ledger', differ ? 'bad' : 'good']);
    if (open) parts.push([open + ' not decided yet', 'warn']);
    const text = parts.map(([words]) => words).join();
    if ($('verdict').dataset.text === text) return; // said once
    $('verdict').dataset.text = text;
    $('verdict').replaceChildren(...parts.map(([words, className]) => el('span', words, 'tag ' + className)));
  };

  // ---- charts

  const color = (name) => getComputedStyle(document.body).getPropertyValue('--' + name).trim();
  // light-dark() is resolved where it is used as a color.
  const resolved = (name) => {
    const probe = el('span');
    probe.style.color = 'var(--' + name + ')';
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value || color(name);
  };

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const charts = {};
  // extent is what a chart says to who does not see it.
  const extent = (values) => {
    const known = values.filter((v) => v !== null);
    if (known.length === 0) return 'no value';
    const exact = (v) => money(String(+v.toPrecision(10)));
    const [low, high] = known.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [known[0], known[0]]);
    return exact(known[known.length - 1]) + ' now, between ' + exact(low) + ' and ' + exact(high);
  };
  const chart = (id, name, data) => {
    const box = $(id);
    box.setAttribute('aria-label', name + ': ' + extent(data[1]) + (data[0].length ? ', since ' + clock(data[0][0] * 1000) : ''));
    const key = name + dark.matches;
    const width = box.clientWidth;
    if (!width) return;
    let c = charts[id];
    if (!c || c.key !== key || c.width !== width) {
      if (c) c.plot.destroy();
      const axis = { stroke: resolved('soft'), grid: { stroke: resolved('line'), width: 1 }, ticks: { stroke: resolved('line'), width: 1 } };
      const plot = new uPlot({
        width, height: id === 'marks' && width > 330 ? 240 : 170,
        legend: { show: false }, cursor: { drag: { x: false, y: false } },
        padding: [8, 32, 0, 0],
        // A clock that stands still has one moment, which uPlot widens to a day.
        scales: { x: { range: (u, from, to) => (u.data[0].length === 1 ? [u.data[0][0] - 30, u.data[0][0] + 30] : [from, to]) }, y: { range: (u, low, high) => {
          const room = (high - low) * 0.08 || Math.abs(high) * 0.001 || 1;
          return [low - room, high + room];
        } } },
        axes: [Object.assign({ space: 80, values: (u, values) => values.map((v) => clock(v * 1000)) }, axis), Object.assign({ size: 76, values: (u, values) => values.map((v) => money(String(+v.toPrecision(10)))) }, axis)],
        series: [{}, { stroke: resolved('blue'), width: 1.5, points: { show: (u) => u.data[0].length === 1 }, spanGaps: false }],
      }, data, box);
      c = charts[id] = { plot, key, width };
      return;
    }
    c.plot.setData(data);
  };

  const number = (text) => (text === null || text === undefined ? null : Number(text));
  const drawCharts = () => {
    const times = samples.map((s) => Date.parse(s.at) / 1000);
    chart('marks', 'Mark of ' + market, [times, samples.map((s) => number(s.marks[market]))]);
    const a = state.accounts.find((one) => one.id === account);
    if (!a) return;
    chart('equity', 'Equity of ' + accountName(account), [times, samples.map((s) => number(s.equity[account]))]);
    drawGauge(a);
    const facts = [['global floor', cents(a.globalLossFloor), 'bad'], ['daily floor', cents(a.dailyLossFloor), 'warn'],
      ['equity', cents(a.equity), 'blue'], ['target', cents(a.profitTarget), 'good'], ['balance', cents(a.balance), ''], ['status', a.status, '']];
    $('levels').replaceChildren(...facts.map(([name, value, className]) => {
      const pair = el('div');
      pair.append(el('dt', name, className), el('dd', value));
      return pair;
    }));
    show($('settrade'), a.id !== '' && writes.size === 0); // the bot trades its accounts alone
  };

  // The chart of the equity has the scale of its moves, which are small beside the way to a
  // floor: that is the gauge's, from the global floor to the target.
  const drawGauge = (a) => {
    const [low, high] = [Number(a.globalLossFloor), Number(a.profitTarget)];
    const equity = number(a.equity);
    show($('gauge'), high > low);
    const at = (v) => Math.min(100, Math.max(0, (v - low) / (high - low) * 100)) + '%';
    $('fell').style.width = $('daily').style.left = at(Number(a.dailyLossFloor));
    show($('now'), equity !== null);
    if (equity !== null) $('now').style.left = at(equity);
    $('gauge').setAttribute('aria-label', 'Equity ' + cents(a.equity) + ', daily floor ' + cents(a.dailyLossFloor) + ', on the way from the global floor '
      + cents(a.globalLossFloor) + ' to the target ' + cents(a.profitTarget));
  };

  const chips = (id, names, chosen, text, choose) => {
    const box = $(id);
    const key = JSON.stringify(names);
    if (box.dataset.names !== key) {
      box.dataset.names = key;
      box.replaceChildren(...names.map((name) => {
        const b = el('button', '');
        b.type = 'button';
        b.addEventListener('click', () => choose(name));
        return b;
      }));
    }
    names.forEach((name, i) => {
      box.children[i].textContent = text(name);
      box.children[i].setAttribute('aria-pressed', String(name === chosen));
    });
  };

  const drawState = () => {
    const symbols = state.markets.map((m) => m.symbol);
    if (!symbols.includes(market)) market = symbols[0] || '';
    const ids = state.accounts.map((a) => a.id);
    if (!ids.includes(account)) account = ids.includes('acc_1') ? 'acc_1' : ids[0];
    const priceOf = (symbol) => {
      const m = state.markets.find((one) => one.symbol === symbol);
      return m.symbol + ' ' + (m.price === null ? 'no price' : money(m.price));
    };
    chips('markets', symbols, market, priceOf, (name) => { market = name; later(); });
    chips('accounts', ids, account, accountName, (name) => { account = name; later(); });
    $('tradesymbol').textContent = market;
    $('clock').textContent = clock(state.at);
    show($('advance'), state.manualClock);
    if (document.activeElement !== $('health')) $('health').value = state.health;
    $('health').className = state.health === 'healthy' ? '' : 'warn';
    $('url').textContent = state.url;
  };

  // later draws once for all that has come until the next frame.
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      if (!state) return;
      drawState();
      drawCharts();
      drawPositions();
      drawWrites();
      drawLedger();
      drawRequests();
    }, 60);
  };

  // ---- faults

  const common = { 'POST /orders': 'a live order', 'POST /sandbox/orders': 'a sandbox order', 'POST /positions/close': 'a live close', 'POST /sandbox/positions/close': 'a sandbox close' };
  const drawFaults = (answer) => {
    planned = answer.planned;
    const select = $('operation');
    if (select.options.length === 0) {
      for (const name of [...Object.keys(common), '*', ...answer.operations.filter((o) => !(o in common))]) {
        const text = name in common ? common[name] + ' – ' + name : name === '*' ? 'any call that has none planned' : name;
        const option = el('option', text);
        option.value = name;
        select.append(option);
      }
      drawKinds(answer.kinds);
    }
    show($('forget'), planned.length > 0);
    const lines = planned.map((p) => el('li', (p.fault || 'pass') + ' for ' + p.operation));
    $('planned').querySelector('ul').replaceChildren(...(lines.length ? lines : [el('li', 'nothing', 'soft')]));
  };
  const drawKinds = (kinds) => {
    const groups = new Map();
    for (const k of kinds) {
      if (k.group === 'none') continue;
      if (!groups.has(k.group)) groups.set(k.group, []);
      groups.get(k.group).push(k);
    }
    const words = {
      drop_response: 'drop the reply', truncate_response: 'cut the reply', delay_response: 'delay the reply',
      gateway_error_after: 'proxy page instead', gateway_json_after: 'proxy JSON instead', raw_after: 'anything instead',
      refuse_connection: 'refuse the connection', drop_request: 'drop the request', gateway_error: 'proxy page', gateway_json: 'proxy JSON', raw: 'anything',
      arrive_late: 'arrive late', repeat: 'send twice', late_copy: 'copy later',
      fail: 'fail', fail_after: 'execute, then fail', rate_limit: 'rate limit', crash: 'crash before', crash_after: 'crash after',
      delay: 'work slowly', hang: 'break, work slowly',
    };
    for (const [name, list] of groups) {
      const box = el('div', undefined, 'row');
      for (const k of list) {
        const given = k.example;
        const detail = given.for || given.status || '';
        const b = el('button', (words[k.kind] || k.kind.replaceAll('_', ' ')) + (detail ? ' ' + detail : ''));
        b.type = 'button';
        b.title = k.text;
        b.dataset.kind = k.kind;
        b.addEventListener('click', async () => {
          const operation = $('operation').value;
          await change('POST', '/faults', { operation, faults: [given] }, k.text + ' Planned for the next ' + (operation === '*' ? 'call' : operation) + '.');
          loadFaults();
        });
        box.append(b);
      }
      // What to begin with is seen at once; a phone has no room for the rest above the proof.
      $($('kinds').children.length ? 'more' : 'kinds').append(el('h3', name), box);
    }
    $('more').open = matchMedia('(min-width: 901px)').matches;
  };
  const loadFaults = async () => {
    try {
      drawFaults(await ask('GET', '/faults'));
    } catch (problem) {
      say(problem.message);
    }
  };

  // ---- events

  const noteRequest = (r, ended, wasRefused) => {
    r.ended = ended;
    r.refused = wasRefused;
    keepRequest(r.id || 'refused ' + (++refused), r);
    if (r.fault && planned.length > 0) loadFaults();
    later();
  };

  // loadAll reads everything anew. What happens meanwhile comes by events, and stays.
  const loadAll = async () => {
    for (const known of [writes, requests, reads]) known.clear();
    ledger = [];
    const [now, past, rows, log] = await Promise.all([
      ask('GET', '/state'), ask('GET', '/history'), ask('GET', '/ledger?limit=' + kept), ask('GET', '/requests?limit=1000')]);
    state = now;
    samples = past.samples;
    const newWrites = [...writes];
    const newRequests = [...requests];
    for (const known of [writes, requests, reads]) known.clear();
    for (const w of past.writes) writes.set(w.id, w);
    for (const [id, w] of newWrites) writes.set(id, w);
    for (const r of log.requests) {
      r.ended = r.delivered || Boolean(r.fault) || Boolean(r.status);
      keepRequest(r.id, r);
    }
    for (const [id, r] of newRequests) keepRequest(id, r);
    ledger = [...rows.executions, ...ledger.filter((e) => !rows.executions.some((known) => known.id === e.id))];
    await loadFaults();
    later();
  };

  const addSample = (now) => {
    const sample = { at: now.at, marks: {}, equity: {} };
    for (const m of now.markets) sample.marks[m.symbol] = m.price;
    for (const a of now.accounts) sample.equity[a.id] = a.equity;
    if (samples.length && Date.parse(samples[samples.length - 1].at) >= Date.parse(now.at)) samples.pop();
    samples.push(sample);
    if (samples.length > 900) samples.shift();
  };

  const listen = () => {
    const stream = new EventSource(root + '/events');
    const on = (name, handle) => stream.addEventListener(name, (e) => handle(JSON.parse(e.data)));
    const link = (text, className) => { $('link').textContent = text; $('link').className = 'pill ' + className; };
    stream.addEventListener('open', () => link('live', 'good'));
    stream.addEventListener('error', async () => {
      link('not connected', 'bad');
      if (stream.readyState !== EventSource.CLOSED) return;
      setTimeout(start, 2000); // refused: the service may have begun anew
    });
    on('reset', () => loadAll().catch((problem) => say(problem.message)));
    on('state', (now) => { state = now; addSample(now); later(); });
    on('request', (r) => noteRequest(r, false, false));
    on('answer', (r) => noteRequest(r, true, false));
    on('refused', (r) => noteRequest(r, true, true));
    on('execution', (e) => {
      if (ledger.some((known) => known.id === e.id)) return;
      ledger.push(e);
      ledger = ledger.slice(-kept);
      later();
    });
    on('write', (w) => { writes.set(w.id, w); forgetOldest(writes, kept); later(); });
  };

  // ---- the start

  const signIn = async (token) => {
    await ask('POST', '/session', { token });
    show($('signin'), false);
  };
  const start = async () => {
    try {
      await ask('GET', '/state');
    } catch (problem) {
      if (problem.status === 401) {
        show($('signin'), true);
        show($('main'), false);
        $('link').textContent = 'signed out';
        return;
      }
      setTimeout(start, 2000);
      return;
    }
    show($('main'), true);
    listen();
  };

  $('signin').addEventListener('submit', async (e) => {
    e.preventDefault();
    try {
      await signIn($('token').value.trim());
      $('token').value = '';
      start();
    } catch (problem) {
      say(problem.message);
    }
  });
  $('forget').addEventListener('click', async () => { await change('DELETE', '/faults', undefined, 'No fault is planned.'); loadFaults(); });
  $('reads').addEventListener('change', later);
  $('health').addEventListener('change', () => {
    const status = $('health').value;
    change('PUT', '/health', { status, feed: status === 'healthy' ? 'live' : 'stale' }, 'The service is ' + status + ' from its next assessment on.');
  });
  const mark = (price) => change('PUT', '/marks/' + encodeURIComponent(market), { price }, market + (price === null ? ' has no price.' : ' is at ' + price + '.'));
  $('setmark').addEventListener('submit', (e) => { e.preventDefault(); mark($('price').value.trim()); });
  $('noprice').addEventListener('click', () => mark(null));
  $('settrade').addEventListener('submit', (e) => e.preventDefault());
  for (const b of $('settrade').querySelectorAll('button')) {
    b.addEventListener('click', () => change('POST', '/trades', { account, symbol: market, side: b.dataset.side, size: $('size').value.trim() }, 'Somebody in the terminal traded ' + market + '.'));
  }
  for (const b of $('advance').querySelectorAll('button')) {
    b.addEventListener('click', () => change('POST', '/clock/advance', { by: b.dataset.by }));
  }
  window.addEventListener('resize', later);
  dark.addEventListener('change', later);

  (async () => {
    const token = location.hash.slice(1);
    if (token) {
      history.replaceState(null, '', location.pathname);
      try {
        await signIn(token);
      } catch (problem) {
        say(problem.message);
      }
    }
    start();
  })();
})();
