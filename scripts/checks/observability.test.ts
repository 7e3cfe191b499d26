import { expect, test } from 'vitest'
import { observabilityCheck } from './observability.ts'

const source = {
  path: 'apps/oracle/src/a.ts',
  text: `log.warn({ event: 'chain_halted' }, 'x')
const event = late ? 'peer_timeout' : 'peer_failed'
new Gauge({ name: 'oracle_chain_status' })`,
}
const page = (text: string) => ({ path: 'docs/operating/oracle.md', text })
const complete = '- `chain_halted`, `peer_timeout`, `peer_failed`\n- `oracle_chain_status{chain}`'

test('accepts pages that name every event and metric', () => {
  expect(observabilityCheck.find([source, page(complete)])).toEqual([])
})

test.each(['chain_halted', 'peer_timeout', 'peer_failed', 'oracle_chain_status'])(
  'refuses pages without %s',
  (name) => {
    const found = observabilityCheck.find([source, page(complete.replace(name, 'x'))])
    expect(found.map(({ problem }) => problem)).toEqual([expect.stringContaining(`${name} is not in`)])
  },
)

test('refuses a metric that nothing measures, and leaves tests alone', () => {
  const test = { ...source, path: 'apps/oracle/src/a.test.ts' }
  expect(observabilityCheck.find([test, page('- `oracle_gone{chain}`')])).toEqual([
    { file: 'docs/operating/oracle.md', problem: 'oracle_gone is measured nowhere' },
  ])
})
