// A login over TLS. Run by TestMongoshSecured, once for each mechanism.

check('TLS and SCRAM', () => {
  const { authInfo } = db.runCommand({ connectionStatus: 1 });
  assert.equal(authInfo.authenticatedUsers[0].user, 'ada');
  db.secure.insertOne({ at: new Date() });
  assert.ok(db.secure.countDocuments() > 0);
});
print('done');
