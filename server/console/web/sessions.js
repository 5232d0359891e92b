// The sessions of a queue: the list of them, and the one that the page holds.
import {
  el,
  fill,
  changed,
  run,
  state,
  ms,
  count,
  when,
  button,
  ask,
  empty,
  table,
  pager,
} from './lib.js';

const shown = 50; // sessions of a page
const lost = 90411; // the code of a lock of a session that has ended

// sessions is what the page of a queue does with sessions. It holds one at a time. q is as for
// the dialogs; released is called with the id of a session that the page held.
export function sessions({ db, name, tell, refresh }, writes, released) {
  const note = el('div', { class: 'note', role: 'group', hidden: true });
  const befores = ['']; // ids behind which the pages of the list begin
  let mine;

  const hold = session => {
    const before = mine;
    mine = session ?? undefined;
    if (before && before.sessionId !== mine?.sessionId) released(before.sessionId);
    draw();
    return mine;
  };
  const accept = async id => {
    if (mine) await release();
    const which = id === undefined ? {} : { sessionId: id };
    return hold((await run(db, { mqAcceptSession: name, ...which })).session);
  };
  const own = command =>
    run(db, { ...command, sessionToken: mine.sessionToken }).catch(e => {
      if (e.code === lost) hold();
      throw e;
    });
  const renew = async () => {
    const { lockedUntilUtc } = await own({ mqRenewSession: name });
    hold({ ...mine, lockedUntilUtc });
    tell('The session is held for longer.');
  };
  const release = async () => {
    await own({ mqReleaseSession: name });
    hold();
  };

  const change = () => {
    const text = el(
      'textarea',
      { 'aria-label': 'State' },
      JSON.stringify(mine.state ?? {}, null, 2),
    );
    ask(
      `The state of the session ${mine.sessionId}`,
      [text, el('p', { class: 'small muted' }, 'null removes it.')],
      'Set',
      async () => {
        const to = JSON.parse(text.value);
        await own({ mqSetSessionState: name, state: to });
        hold({ ...mine, state: to ?? undefined });
        tell('The state was set.');
        await refresh();
      },
    );
  };

  function draw() {
    note.hidden = !mine;
    if (!mine) return fill(note);
    note.setAttribute('aria-label', `The session ${mine.sessionId}`);
    fill(
      note,
      el(
        'div',
        { class: 'row between' },
        el(
          'span',
          {},
          'You hold the session ',
          el('b', {}, mine.sessionId),
          '; its lock ends ',
          when(ms(mine.lockedUntilUtc)),
          '.',
        ),
        el(
          'span',
          { class: 'row' },
          button('State …', change),
          button('Renew', renew),
          button('Release', async () => {
            const { sessionId } = mine;
            await release();
            tell(`The session ${sessionId} was released.`);
            await refresh();
          }),
        ),
      ),
      mine.state !== undefined && [
        el('div', { class: 'small muted' }, 'Its state'),
        el('code', { class: 'doc' }, JSON.stringify(mine.state)),
      ],
    );
  }

  const row = s => [
    s.sessionId,
    s.lockedUntilUtc
      ? [
          s.sessionId === mine?.sessionId ? 'held by you, ends ' : 'locked, ends ',
          when(ms(s.lockedUntilUtc)),
        ]
      : el('span', { class: 'muted' }, 'free'),
    s.hasState ? 'yes' : el('span', { class: 'muted' }, 'no'),
    count(s.active),
    writes && !s.lockedUntilUtc
      ? button(
          'Accept',
          async () => {
            await accept(s.sessionId);
            tell(`The session ${s.sessionId} was accepted.`);
            await refresh();
          },
          { 'aria-label': `Accept the session ${s.sessionId}` },
        )
      : '',
  ];
  const turn = change => () => {
    change();
    return refresh();
  };
  return {
    note,
    // receive receives a message of the session that the page holds, or of the next one.
    receive: async () => {
      if (!mine && !(await accept())) return tell('No session has a message to receive.');
      const { messages } = await own({ mqReceive: name, mode: 'peekLock' });
      if (!messages.length) tell(`The session ${mine.sessionId} has no message to receive.`);
      return messages[0];
    },
    // check lets go of a session whose lock has ended.
    check: () => mine && ms(mine.lockedUntilUtc) <= state.now && hold(),
    // show draws the list, if it is still to be shown when it has come.
    show: async (list, wanted) => {
      const after = befores.at(-1),
        all = (await run(db, { mqSessions: name, after, maxSessions: shown + 1 })).sessions,
        part = all.slice(0, shown);
      if (!wanted() || after !== befores.at(-1)) return;
      if (!changed(list, ['sessions', part, mine?.sessionId])) return;
      fill(
        list,
        part.length
          ? table(
              ['Session', 'Lock', 'State', { name: 'Messages to receive', num: true }, ''],
              part.map(row),
              'Sessions',
            )
          : empty(after ? 'There are no more sessions.' : 'There are no sessions.'),
        (befores.length > 1 || all.length > shown) &&
          pager(
            befores.length > 1 && turn(() => befores.pop()),
            `page ${befores.length}`,
            all.length > shown && turn(() => befores.push(part.at(-1).sessionId)),
          ),
      );
    },
  };
}
