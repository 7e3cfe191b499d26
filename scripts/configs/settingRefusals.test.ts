// Goal: whatever an operator mistypes, the refusal names the variable and says in words what it wants. Method: every
// service is examined as before a start, with one variable at a time replaced by what nobody can mean.

import type { Finding } from '@causeway/core/config'
import { describe, expect, test } from 'vitest'
import {
  type ExampleService,
  examination,
  exampleOf,
  services,
  startingVariables,
  stopping,
} from './exampleServices.ts'

const service = (name: string): ExampleService => {
  const found = services.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no service ${name}`)
  return found
}

async function refusals(
  one: ExampleService,
  changed: Readonly<Record<string, string>>,
): Promise<readonly Finding[]> {
  return stopping(await one.examine({ ...startingVariables(one), ...changed }, examination))
}

/** The address of the example's key, which its own list must name. */
async function ownSigner(): Promise<string> {
  const found = await service('oracle').examine(startingVariables(service('oracle')), examination)
  return found.find(({ code }) => code === 'key-read')?.seen.replace('signs as ', '') ?? ''
}

const [first, second] = [`0x${'1a'.repeat(20)}`, `0x${'2b'.repeat(20)}`]
const long = (digit: string) => digit.repeat(20)

/** Every setting that lists something: two entries that are well, by their separator. */
const lists: readonly {
  readonly of: string
  readonly setting: string
  readonly entries: readonly [string, string] | (() => Promise<readonly [string, string]>)
  readonly separator: string
}[] = [
  ...['API_KEYS', 'PEER_API_KEYS'].map((setting) => ({
    of: 'oracle',
    setting,
    separator: ';',
    entries: [`${long('a')}:one`, `${long('b')}:two`] as const,
  })),
  {
    of: 'oracle',
    setting: 'PEERS',
    separator: ';',
    entries: ['https://one.example|key', 'https://two.example|key'],
  },
  {
    of: 'oracle',
    setting: 'ORACLE_SIGNERS',
    separator: ';',
    entries: async () => [await ownSigner(), first],
  },
  { of: 'oracle', setting: 'TRUSTED_PROXIES', separator: ',', entries: ['10.0.0.1', '10.1.0.0/16'] },
  {
    of: 'quote-api',
    setting: 'API_KEY_PEPPERS',
    separator: ';',
    entries: [`v2:${'9e'.repeat(32)}`, `v1:${'9f'.repeat(32)}`],
  },
  {
    of: 'quote-api',
    setting: 'TRUSTED_PROXIES',
    separator: ',',
    entries: ['10.0.0.1', '10.1.0.0/16'],
  },
  ...['quote-api', 'solver'].map((of) => ({
    of,
    setting: 'ORACLES',
    separator: ';',
    entries: [`https://one.example|key|${first}`, `https://two.example|key|${second}`] as const,
  })),
  { of: 'solver', setting: 'ORDER_SIGNERS', separator: ';', entries: [first, second] },
]

describe.each(lists)('$setting of $of', ({ of, setting, entries, separator }) => {
  const load = async () => (typeof entries === 'function' ? await entries() : entries)

  test('O-1: takes two entries', async () => {
    const [one, other] = await load()
    expect(await refusals(service(of), { [setting]: ` ${one} ${separator} ${other} ` })).toEqual([])
  })

  test.each([
    ['between two', ([one, other]: readonly string[]) => [one, '', other], 2],
    ['of a blank', ([one, other]: readonly string[]) => [one, ' ', other], 2],
    ['in front', ([one, other]: readonly string[]) => ['', one, other], 1],
    ['at the end', ([one, other]: readonly string[]) => [one, other, ''], 3],
    ['beside another', () => ['', ''], 1],
  ] as const)('O-1: refuses an empty entry %s, by its number', async (_where, change, position) => {
    const text = change(await load()).join(separator)
    expect(await refusals(service(of), { [setting]: text })).toContainEqual(
      expect.objectContaining({
        setting,
        seen: `${setting} entry ${position} is empty: leave out the separator, or fill it in.`,
      }),
    )
  })
})

/** An example of EIP-55 with its last letter in the other case. */
const mistyped = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'

test.each([
  ['oracle', 'ORACLE_SIGNERS'],
  ['solver', 'ORDER_SIGNERS'],
])(
  'O-1: an address of %s with a wrong checksum, and the zero address, are refused in %s',
  async (of, setting) => {
    const own = of === 'oracle' ? await ownSigner() : first
    for (const wrong of [mistyped, `0x${'0'.repeat(40)}`, '0x1234', first.slice(2)])
      expect(await refusals(service(of), { [setting]: `${own};${wrong}` })).toContainEqual(
        expect.objectContaining({ setting, seen: expect.stringMatching(new RegExp(`^${setting} entry 2 `)) }),
      )
  },
)

/** Values that nobody can mean; each kind of setting refuses at least one. */
const nonsense = ['abc', '-1.5', '9'.repeat(20), 'ftp://one.example', 'x;', '\u{1F986} x']
/** Words of the library of our schemas. */
const jargon = /invalid|expected|received|NaN|too (small|big)|regex|pattern|\/\^/i

describe.each(services)('every variable of $name', (one) => {
  const example = exampleOf(one)

  // Every second value for every second variable: each kind of setting has several of them.
  test.each(example.map(({ name }, index) => [name, index % 2] as const))(
    'O-2: %s is refused by its name and in words',
    async (name, parity) => {
      for (const value of nonsense.filter((_, index) => index % 2 === parity))
        for (const { setting, seen } of await refusals(one, { [name]: value })) {
          expect(`${setting}: ${seen}`).toContain(name)
          expect(seen).not.toMatch(jargon)
        }
    },
  )

  test('O-2: a value that may be a secret is in no refusal', async () => {
    const canary = 'canary-5d41402abc4b2a76'
    for (const { name } of example.filter((variable) => !/^(ENVIRONMENT|.*_DIR)$/.test(variable.name)))
      expect(JSON.stringify(await refusals(one, { [name]: canary }))).not.toContain(canary)
  })
})

test.each([
  ['HTTP_PORT', 'abc', 'is "abc" and must be a whole number from 0 to 65535'],
  ['HTTP_PORT', '70000', 'is "70000" and must be a whole number from 0 to 65535'],
  ['HTTP_PORT', '5'.repeat(16), 'is 16 characters long and must be a whole number from 0 to 65535'],
  ['OTEL_TRACES_SAMPLER_ARG', '2', 'is "2" and must be a number from 0 to 1'],
  ['FORCE', 'yes', 'is "yes" and must be on or off'],
  ['SIGNING_MODULE', 'paper', 'SIGNING_MODULE is "paper" and must be raw-private-key or aws-kms.'],
  [
    'ORACLE_SIGNERS_THRESHOLD',
    '0',
    'ORACLE_SIGNERS_THRESHOLD is "0" and must be a whole number of at least 1.',
  ],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'abc', 'must be a URL that begins with https:// or http://'],
  [
    'BASE_RPC_URL',
    'abc',
    'chains.mainnets.prod.json: chains[34].httpRpcUrl: endpoint 1 is not an http(s) URL (BASE_RPC_URL)',
  ],
])('O-2: the oracle says of %s=%s what it is and what it must be', async (setting, value, seen) => {
  expect(await refusals(service('oracle'), { [setting]: value })).toContainEqual(
    expect.objectContaining({ setting, seen }),
  )
})

/** Every setting that a service takes keys of its callers by. */
const keys: readonly {
  readonly of: string
  readonly setting: string
  readonly write: (key: string) => string
}[] = [
  { of: 'oracle', setting: 'API_KEYS', write: (key) => `${key}:label` },
  { of: 'oracle', setting: 'PEER_API_KEYS', write: (key) => `${key}:label` },
  { of: 'quote-api', setting: 'ADMIN_API_KEY', write: (key) => key },
  { of: 'quote-api', setting: 'SOLVER_API_KEY', write: (key) => key },
]

describe.each(keys)('$setting of $of', ({ of, setting, write }) => {
  const settings = async (changed: Readonly<Record<string, string>>) =>
    (await refusals(service(of), changed)).map((finding) => finding.setting)

  test.each([
    'k',
    'k'.repeat(15),
    'k'.repeat(257),
    `${'k'.repeat(16)},k`,
    `${'k'.repeat(8)} ${'k'.repeat(8)}`,
  ])('O-3: outside local the key %j stops the start and is not shown', async (key) => {
    const found = await refusals(service(of), { [setting]: write(key) })
    expect(found).toContainEqual(
      expect.objectContaining({
        setting,
        seen: expect.stringMatching(
          new RegExp(`^${setting}.* must have 16 to 256 printable characters without spaces and commas\\.$`),
        ),
      }),
    )
    expect(JSON.stringify(found)).not.toContain('kkk')
  })

  test('O-3: 16 characters are enough, and in local one is', async () => {
    for (const key of ['k'.repeat(16), 'k'.repeat(256)])
      expect(await settings({ [setting]: write(key) })).not.toContain(setting)
    expect(await settings({ ENVIRONMENT: 'local', [setting]: write('k') })).not.toContain(setting)
  })
})

test('O-3: what is beyond loopback needs a long key in local too', async () => {
  const local = { ENVIRONMENT: 'local', ADMIN_HOST: '0.0.0.0', ADMIN_API_KEY: 'k' }
  expect((await refusals(service('quote-api'), local)).map(({ setting }) => setting)).toContain(
    'ADMIN_API_KEY',
  )
})

test('O-3: a key that is written as its hash has no length that a setting could show', async () => {
  const hash = `sha256$${'5d'.repeat(32)}:label`
  expect(await refusals(service('oracle'), { API_KEYS: hash })).toEqual([])
})
