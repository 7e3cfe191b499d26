// Goal: one bad setting hides no other, none shows its value, and an operator reads what to do. Attacks: a secret as the
// value of a setting that is refused, a reader that throws at its first problem, two readers of one problem.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ConfigurationError } from '../errors.ts'
import { clockFindings, createFindings, findingsOf, stopsStart, UnfitSettingsError } from './finding.ts'
import { readVariables } from './readVariables.ts'
import { counted, hintsOf, reportOf, reportText } from './report.ts'

const canary = 'canary-7f3a9b2c5d41'
const schema = z.object({
  NEEDED: z.string(),
  PORT_NUMBER: z.coerce.number().int().min(0).max(65_535).default(3000),
  MODE: z.enum(['on', 'off']).default('on'),
  PLACE: z.url().optional(),
})

test('every bad variable is found at once, without its value, beside what can be read', () => {
  const source = { PORT_NUMBER: canary, MODE: canary, PLACE: canary, NEEDED: '' }
  const { values, whole, findings: found } = readVariables(schema, source)
  expect(found.list.map(({ code, setting }) => [code, setting])).toEqual([
    ['setting-missing', 'NEEDED'],
    ['setting-wrong', 'PORT_NUMBER'],
    ['setting-wrong', 'MODE'],
    ['setting-wrong', 'PLACE'],
  ])
  expect([values, whole]).toEqual([{}, undefined])
  expect(JSON.stringify(found.list)).not.toContain(canary)
  expect(readVariables(schema, { ...source, MODE: 'off' }).values).toEqual({ MODE: 'off' })
})

test('a placeholder that was not filled in is found, of variables that other files name as well', () => {
  const { findings: found } = readVariables(schema, { NEEDED: '<secret>', BASE_RPC_URL: '<endpoint>' })
  expect(found.list.map(({ setting, seen }) => [setting, seen])).toEqual([
    ['NEEDED', 'is still the placeholder of its example file'],
    ['BASE_RPC_URL', 'is still the placeholder of its example file'],
  ])
})

test('what is well is read with its defaults', () => {
  const { whole, findings: found } = readVariables(schema, { NEEDED: 'x', MODE: '' })
  expect(whole).toEqual({ NEEDED: 'x', PORT_NUMBER: 3000, MODE: 'on' })
  expect(found.list).toEqual([])
})

test('readers that throw are findings that name their setting; bugs stay bugs', () => {
  const found = createFindings()
  found.attempt(() => {
    throw ConfigurationError.listing('Bad:', [
      'chains.x.json: chains[1].id: Required (set BASE_RPC_URL)',
      'quote.fillWallet belongs to a published development key',
      'httpRpcUrl of base: node#1 is not on chain 8453',
      'hub: auroraEvmChainId must be evmChainId: the hub is its own',
    ])
  })
  expect(found.list.map(({ setting }) => setting)).toEqual([
    'BASE_RPC_URL',
    'quote.fillWallet',
    'httpRpcUrl of base',
    'hub',
  ])
  expect(() =>
    found.attempt(() => {
      throw new TypeError('a bug')
    }),
  ).toThrow('a bug')
  expect(findingsOf(new UnfitSettingsError(found.list))).toEqual(found.list)
})

test('O-145: only what stops the start stops it', () => {
  const found = createFindings()
  found.add(...clockFindings({ setting: 'clock', with: 'x', offsetMs: 300_000 }))
  expect([found.list.length, stopsStart(found.list)]).toEqual([1, false])
  found.missing('NEEDED')
  expect(stopsStart(found.list)).toBe(true)
})

test.each([
  [5_000, 0],
  [-5_000, 0],
  [300_000, 1],
  [-300_000, 1],
])('a clock that is %i ms off is %i finding', (offsetMs, count) => {
  const found = clockFindings({ setting: 'DATABASE_URL', with: "the database's clock", offsetMs })
  expect(found).toHaveLength(count)
  if (count > 0)
    expect(found[0]?.seen).toContain(`300 s ${offsetMs > 0 ? 'ahead of' : 'behind'} the database`)
})

const example = `# The database: postgres://….
DATABASE_URL=<database>
# Endpoints of one chain.
BASE_RPC_URL=<endpoint>
# Off or on.
#MODE=on
`

test('O-92: a report has the worst first, each once, with what the example says to do', () => {
  const finding = { code: 'setting-missing', seen: 'is not set', fix: '' } as const
  const { startable, findings } = reportOf(
    'x',
    [
      { ...finding, severity: 'note', setting: 'MODE' },
      { ...finding, severity: 'stops', setting: 'DATABASE_URL' },
      { ...finding, severity: 'stops', setting: 'DATABASE_URL' },
      { ...finding, severity: 'degrades', setting: 'ARBITRUM_NOVA_RPC_URL' },
      { ...finding, severity: 'degrades', setting: 'UNHEARD_OF' },
    ],
    hintsOf(example),
  )
  expect(startable).toBe(false)
  expect(findings.map(({ setting, fix }) => [setting, fix])).toEqual([
    ['DATABASE_URL', 'The database: postgres://….'],
    ['ARBITRUM_NOVA_RPC_URL', 'Endpoints of one chain.'],
    ['UNHEARD_OF', 'See docs/operating/configuration.md.'],
    ['MODE', 'Off or on.'],
  ])
  const text = reportText({ service: 'x', startable, findings })
  expect(text.split('\n')[0]).toBe('x does not start: 1 finding stops it, 2 findings degrade it, 1 note.')
  expect(text).toContain('stops    DATABASE_URL (setting-missing)\n  seen: is not set\n  fix:  The database')
})

test('O-92: numbers stand before their noun, and nothing is counted where nothing is', () => {
  expect([0, 1, 2n].map((count) => counted(count, 'chain'))).toEqual(['0 chains', '1 chain', '2 chains'])
  expect([1, 2].map((count) => counted(count, 'entry', 'entries'))).toEqual(['1 entry', '2 entries'])
  expect(reportText({ service: 'x', startable: true, findings: [] })).toBe(
    'x may start: nothing is to be mended.',
  )
})
