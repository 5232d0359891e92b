// What the user may do: the pages offer nothing else. The server checks it anyway.
import { state, admin } from './lib.js';

let user, privileges;

// granted asks once after each login for the privileges of the user.
function granted() {
  if (privileges && user === state.session.user) return privileges;
  user = state.session.user;
  privileges = admin({ connectionStatus: 1, showPrivileges: true }).then(
    r => r.authInfo.authenticatedUserPrivileges ?? [],
  );
  privileges.catch(() => {
    privileges = undefined;
  });
  return privileges;
}

const system = name => name.startsWith('system.');
const own = ['config', 'local'];

// covers reports whether a privilege is one for a collection. An empty name stands for any
// but those of the server.
function covers({ anyResource, db, collection }, inDb, name) {
  if (anyResource) return true;
  if (db === undefined || collection === undefined) return false;
  return (
    (db === inDb || (db === '' && !own.includes(inDb))) &&
    (collection === name || (collection === '' && !system(name)))
  );
}

// may reports whether the user may do something with a collection.
export async function may(db, name, action) {
  if (state.session.readOnly) return false;
  if (!state.session.auth) return true;
  return (await granted()).some(p => p.actions.includes(action) && covers(p.resource, db, name));
}

// mayAnywhere reports whether the user may do something in some database.
export async function mayAnywhere(action) {
  if (state.session.readOnly) return false;
  if (!state.session.auth) return true;
  const on = p => p.resource.anyResource || p.resource.db !== undefined;
  return (await granted()).some(p => p.actions.includes(action) && on(p));
}
