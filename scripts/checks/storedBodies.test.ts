import { expect, test } from 'vitest'
import { storedBodiesCheck } from './storedBodies.ts'

const inTest = 'test/families/lighterFacts.test.ts'
const standIn = 'packages/localnet/src/standIns/lighter/lighterNode.ts'
const find = (path: string, text: string) => storedBodiesCheck.find([{ path, text }]).map(({ file }) => file)

test.each([
  ['a JSON text', inTest, `say('{"code":500}')`],
  ['a JSON list', inTest, `say('[{"hash":"00"}]')`],
  ['a JSON text with parts', inTest, `say(\`{"code":\${code}}\`)`],
  ['an object of an interface', inTest, `say({ raw_data_hex: '00' })`],
  ['a JSON text of a stand-in', standIn, `say('{"code":500}')`],
  ['a body without a source', inTest, `const a = { provenance: 'recorded', proves: [], body: '{"code":1}' }`],
])('refuses %s that does not say where it comes from', (_what, path, text) => {
  expect(find(path, `\n${text}`)).toEqual([`${path}:2`])
})

test.each([
  ['a stored body', inTest, `const a = { provenance, source, proves, body: { b: '{"code":1}' } }`],
  ['a changed body', inTest, `say({ ...Object(body), raw_data_hex: '00' })`],
  ['other texts', inTest, `say('<html>'); say('[]'); say('{}'); say({ kind: 'hang' })`],
  ['files that read no such chain', 'test/rpc/rpcFaults.test.ts', `say('{"code":500}')`],
])('accepts %s', (_what, path, text) => {
  expect(find(path, text)).toEqual([])
})
