// Goal: an operator with two endpoints and a key can begin. Attacks: shipped files that lack what the kit needs, a page that
// names other variables than the files, main networks by mistake, an oracle that says something else.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { End } from '@causeway/cli'
import { generatePrivateKey } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../configs/writeJson.ts'
import { readFieldFiles, withoutFloors } from './files.ts'
import { parseFieldOptions } from './options.ts'
import { differenceOf } from './payments.ts'

const read = (name: string) =>
  JSON.parse(readFileSync(join(root, `configs/${name}.testnets.prod.json`), 'utf8'))
const files = { chains: read('chains'), hub: read('chains.hub'), quote: read('quote') }
const page = readFileSync(join(root, 'docs/operating/field.md'), 'utf8')

const [, block = ''] = /```ini\n([\s\S]*?)```/.exec(page) ?? []
/** As the page has them. */
const variables: Readonly<Record<string, string>> = Object.fromEntries(
  block
    .trim()
    .split('\n')
    .map((line) => line.replaceAll("'", ''))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
)
const withKey = { ...variables, FIELD_PRIVATE_KEY_FILE: '', FIELD_PRIVATE_KEY: generatePrivateKey() }

test('O-114: the shipped files and the variables of the page are all that a run needs', () => {
  const { chains, hubVariable, capVariables } = readFieldFiles(files, variables)
  expect(chains.map(({ key, variable }) => [key, variable])).toEqual([
    ['sepolia', 'SEPOLIA_RPC_URL'],
    ['base-sepolia', 'BASE_SEPOLIA_RPC_URL'],
  ])
  expect(chains.map(({ key, feed }) => feed.chain === key)).toEqual([true, true])
  // O-116: what nobody needs there is not deployed.
  for (const { fillContract, contracts } of chains) expect(contracts).toEqual([fillContract])
  expect([hubVariable, capVariables]).toEqual(['RELAY_TESTNET_RPC_URL', []])
  for (const name of ['SEPOLIA_RPC_URL', 'RELAY_TESTNET_RPC_URL'])
    expect(() => readFieldFiles(files, { ...variables, [name]: '' })).toThrow(name)
})

test('O-117: the key that the page makes is one, and is not made twice', async () => {
  const HOME = await mkdtemp(join(tmpdir(), 'causeway-field-key-'))
  onTestFinished(() => rm(HOME, { recursive: true }))
  const [, line = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
  const make = () => spawnSync('bash', ['-c', line], { env: { ...process.env, HOME } })
  const keyOf = () =>
    parseFieldOptions(['testnets'], { FIELD_PRIVATE_KEY_FILE: join(HOME, 'field.key') }, root).funderKey
  expect(make().status).toBe(0)
  const key = keyOf()
  expect(make().status).not.toBe(0)
  expect([keyOf(), key.length]).toEqual([key, 66])
})

test('O-114: the page fits on a screen', () => {
  expect(page.split('\n').length).toBeLessThan(45)
})

test('O-112: the solver keeps nothing back of what it is lent, and its file stays as it is else', () => {
  const solver = read('solver')
  const { chains, ...rest } = Object(withoutFloors(solver))
  expect(chains.sepolia).toEqual({ ...solver.chains.sepolia, floors: [] })
  expect({ ...rest, chains: solver.chains }).toEqual(solver)
})

test('O-112: words and variables are taken as the page has them', () => {
  const options = parseFieldOptions(['testnets', '--max-usd', '7.5', '--dry-run'], withKey, root)
  expect(options).toMatchObject({
    environment: 'testnets.prod',
    sumMicroUsd: 7_500_000n,
    isDryRun: true,
    directory: join(root, '.field'),
    configDirectory: join(root, 'configs'),
    publicOracle: { url: 'https://oracle.example', apiKey: undefined },
  })
  expect(options.families.map(({ family }) => family)).toEqual(['solana-vm', 'tron-vm'])
  expect(parseFieldOptions(['testnets'], withKey, root).sumMicroUsd).toBe(20_000_000n)
})

test.each([
  ['main networks', ['mainnets.prod'], {}],
  ['the local network', ['local'], {}],
  ['no environment', [], {}],
  ['a sum of less than nothing', ['testnets', '--max-usd=-1'], {}],
  ['a word that means nothing', ['testnets', '--max-eur', '1'], {}],
  ['no key', ['testnets'], { FIELD_PRIVATE_KEY: '' }],
  ['a family that is none', ['testnets'], { FIELD_READ_URLS: 'dogecoin-vm=https://doge.example' }],
  ['an oracle that is no URL', ['testnets'], { PUBLIC_ORACLE_URL: 'oracle' }],
])('O-112: a run does not begin with %s', (_what, words, changed) => {
  const refuse: End = ({ text }) => {
    throw new Error(text)
  }
  expect(() => parseFieldOptions(words, { ...withKey, ...changed }, root, refuse)).toThrow()
})

const execution = (action: string) => ({ idempotencyKey: '0xA', actions: [action], signatures: [] })

test('O-112: two oracles agree where facts are the same, whoever signed and however they are spelled', () => {
  const own = { messages: [{ result: { depositId: '0x1', amount: '5' } }], execution: execution('0xAB') }
  const other = {
    messages: [{ result: { amount: '5', depositId: '0x1' }, signatures: [{}] }],
    execution: { ...execution('0xab'), idempotencyKey: '0xa', signatures: [{}] },
  }
  expect(differenceOf(own, other)).toBeUndefined()
  expect(differenceOf(own, { ...other, execution: execution('0xac') })).toBe('actions: 0xab here, 0xac there')
  expect(
    differenceOf(own, { ...other, messages: [{ result: { depositId: '0x1', amount: '6' } }] }),
  ).toContain('results')
  expect(differenceOf(own, {})).toBe('it says nothing that can be compared')
})
