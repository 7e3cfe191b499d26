import { readFileSync } from 'node:fs'
import { ConfigurationError, Secret } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ChainSources, loadChains } from './chainRegistry.ts'
import { resolvePlaceholders } from './placeholders.ts'

const base = { id: 'base', vmType: 'ethereum-vm', httpRpcUrl: '$BASE_RPC_URL', hubChainId: '8453' }
const hub = {
  environment: 'local',
  id: 'relay',
  httpRpcUrl: '$RELAY_RPC_URL',
  evmChainId: 537_713,
  oracleAddress: `0x${'Ab'.repeat(20)}`,
  oracleVersion: '2',
}
const variables = { BASE_RPC_URL: 'http://127.0.0.1:8545/a', RELAY_RPC_URL: 'http://127.0.0.1:8547' }

function load(chains: readonly unknown[], others: Partial<ChainSources> = {}) {
  return loadChains({
    environment: 'local',
    chainsJson: { environment: 'local', chains },
    variables,
    ...others,
  })
}

/** The problems of a refused configuration, one a line. */
function problemsOf(run: () => unknown): readonly string[] {
  try {
    run()
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    const [title, ...lines] = error.message.split('\n')
    expect(title).toBe('Bad configuration:')
    return lines.map((line) => line.replace(/^- /, ''))
  }
  return []
}

const revealed = (endpoints: readonly Secret[] | undefined) => endpoints?.map((url) => url.reveal())

describe('endpoints', () => {
  test.each([
    ['a variable', '$BASE_RPC_URL', ['http://127.0.0.1:8545/a']],
    ['a variable that holds several', '$MANY', ['http://127.0.0.1:1/', 'http://127.0.0.1:2/']],
    [
      'a list of variables and text',
      ['$BASE_RPC_URL', 'http://127.0.0.1:3'],
      ['http://127.0.0.1:8545/a', 'http://127.0.0.1:3'],
    ],
    ['a list of which one is unset', ['$UNSET', '$BASE_RPC_URL'], ['http://127.0.0.1:8545/a']],
  ])('come from %s', (_name, httpRpcUrl, expected) => {
    const { chains } = load([{ ...base, httpRpcUrl }], {
      variables: { ...variables, MANY: ' http://127.0.0.1:1/ , http://127.0.0.1:2/ ' },
    })
    expect(revealed(chains.get('base')?.endpoints)).toEqual(expected)
    expect(chains.get('base')?.ready).toBe(true)
  })

  test.each([
    ['is not set', '$UNSET', {}],
    ['is empty', '$UNSET', { UNSET: '' }],
    ['is not named', undefined, {}],
  ])('whose variable %s leave the chain listed but not ready', (_name, httpRpcUrl, others) => {
    const { chains } = load([{ ...base, httpRpcUrl }], { variables: { ...variables, ...others } })
    expect(chains.get('base')).toMatchObject({ ready: false, endpoints: [], rpcThreshold: 1 })
  })

  test.each([' , ', 'http://127.0.0.1:1,,http://127.0.0.1:2', 'http://127.0.0.1:1,'])(
    'O-1: a list with a hole stops the start: %j',
    (urls) => {
      const start = () =>
        load([{ ...base, httpRpcUrl: '$MANY' }], { variables: { ...variables, MANY: urls } })
      expect(start).toThrow(/chains\[0\]\.httpRpcUrl: endpoint [12] is not an http\(s\) URL/)
    },
  )

  test('tell which variable would make the chain ready', () => {
    const { chains } = load([{ ...base, httpRpcUrl: ['$FIRST', '$SECOND'] }])
    expect(chains.get('base')?.unsetVariables).toEqual(['FIRST', 'SECOND'])
  })

  test.each([
    [1, undefined, 1],
    [3, undefined, 2],
    [4, undefined, 3],
    [3, 3, 3],
  ])('of %i with a configured threshold of %s need %i equal answers', (count, rpcThreshold, expected) => {
    const httpRpcUrl = Array.from({ length: count }, (_, index) => `http://127.0.0.1:${index + 1}`)
    const { chains } = load([{ ...base, httpRpcUrl, rpcThreshold }])
    expect(chains.get('base')?.rpcThreshold).toBe(expected)
  })
})

describe('placeholders', () => {
  test('are whole strings that start with $, at every depth and inside arrays', () => {
    const json = { a: '$A', b: [{ c: '$A' }, '$A'], d: 'x$A', e: 1, f: null, $A: 'kept' }
    expect(resolvePlaceholders(json, { A: 'v' })).toEqual({
      value: { a: 'v', b: [{ c: 'v' }, 'v'], d: 'x$A', e: 1, f: null, $A: 'kept' },
      set: ['a', 'b[0].c', 'b[1]'].map((path) => ({ path, variable: 'A' })),
      unset: [],
      malformed: [],
    })
  })

  test('whose variable is not set are left out and named with their place', () => {
    expect(resolvePlaceholders({ a: { b: ['$X', 'y'] }, c: '$Y' }, { Y: '' })).toEqual({
      value: { a: { b: ['y'] } },
      set: [],
      unset: [
        { path: 'a.b[0]', variable: 'X' },
        { path: 'c', variable: 'Y' },
      ],
      malformed: [],
    })
  })

  test.each([
    ['a shell would fill in', { chains: [{ a: `\${X}` }] }, 'chains[0].a'],
    ['a shell would fill in, inside a URL', { a: ['y', `https://node.example/\${KEY}`] }, 'a[1]'],
    ['names nothing', { a: { b: '$' } }, 'a.b'],
    ['names nothing but blanks', { a: '$ ' }, 'a'],
    ['no variable can have', { a: '$1X' }, 'a'],
    ['has something behind it', { a: '$X/path' }, 'a'],
    ['has blanks behind it', { a: '$X ' }, 'a'],
    ['is doubled', { a: '$$X' }, 'a'],
  ])('O-144: that %s stop the start and name their place', (_what, json, place) => {
    const read = resolvePlaceholders(json, { X: 'value', KEY: 'value' })
    expect(read.malformed).toEqual([place])
  })

  test.each([`\${BASE_RPC_URL}`, '$', ['$BASE_RPC_URL', '$']])('no chain is opened with %j', (httpRpcUrl) => {
    expect(() => load([{ ...base, httpRpcUrl }])).toThrow(/chains\.local\.json: chains\[0\]\.httpRpcUrl/)
    const hubJson = { ...hub, httpRpcUrl }
    expect(() => load([base], { hubJson })).toThrow(/chains\.hub\.local\.json: httpRpcUrl/)
  })

  test('an additional depository that is a lone $ is not left out in silence', () => {
    const additionalDepositories = [`0x${'11'.repeat(20)}`, '$']
    expect(() => load([{ ...base, additionalDepositories }])).toThrow('chains[0].additionalDepositories[1]')
  })

  test.each(['constructor', '__proto__', 'toString'])('never name what every object has: $%s', (name) => {
    expect(resolvePlaceholders({ a: `$${name}` }, {}).unset).toHaveLength(1)
  })

  test('leave JSON without them as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        fc.pre(!JSON.stringify(json).includes('$') && !JSON.stringify(json).includes('__proto__'))
        expect(resolvePlaceholders(json, {})).toEqual({ value: json, set: [], unset: [], malformed: [] })
      }),
    )
  })
})

describe('a registry', () => {
  test('keeps the order of the file and hides every key', () => {
    const bitcoin = {
      id: 'bitcoin',
      vmType: 'bitcoin-vm',
      hubChainId: '7',
      additionalData: { maestroApiKey: '$MAESTRO', network: 'mainnet' },
    }
    const registry = load([bitcoin, base], { variables: { ...variables, MAESTRO: 'canary' }, hubJson: hub })
    expect([...registry.chains.keys()]).toEqual(['bitcoin', 'base'])
    const { additionalData } = registry.chains.get('bitcoin') ?? {}
    expect(additionalData).toEqual({ maestroApiKey: expect.any(Secret) })
    expect(registry.chains.get('bitcoin')?.network).toBe('mainnet')
    expect(additionalData?.maestroApiKey?.reveal()).toBe('canary')
    expect(JSON.stringify([...registry.chains.values(), registry.hub])).not.toMatch(/canary|127\.0\.0\.1/)
  })

  test.each([
    ['an object', hub],
    ['a list with one', [hub]],
  ])('reads the hub from %s', (_name, hubJson) => {
    const registry = load([base], { hubJson })
    expect(registry.hub).toMatchObject({ id: 'relay', ready: true, oracleAddress: `0x${'ab'.repeat(20)}` })
    expect(revealed(registry.hub?.endpoints)).toEqual(['http://127.0.0.1:8547'])
  })

  test('keeps where blocks are told of, and hides it', () => {
    const urls = 'wss://one.example/canary, ws://127.0.0.1:8545'
    const told = load([{ ...base, wsRpcUrl: '$BASE_WS' }], { variables: { ...variables, BASE_WS: urls } })
    expect(revealed(told.chains.get('base')?.headPushUrls)).toEqual(urls.split(', '))
    expect(JSON.stringify([...told.chains.values()])).not.toContain('canary')
    const untold = load([{ ...base, wsRpcUrl: '$BASE_WS' }], { variables })
    expect(untold.chains.get('base')).not.toHaveProperty('headPushUrls')
  })

  test.each([
    ['an http URL', base, 'https://one.example', 'endpoint 1 is not a ws(s) URL'],
    ['no URL', base, 'ws://one.example,one.example', 'endpoint 2 is not a ws(s) URL'],
    ['a URL with a fragment', base, 'wss://one.example/#x', 'endpoint 1 is not a ws(s) URL'],
    ['one named twice', base, 'ws://one.example,ws://one.example', 'one endpoint is named twice'],
    [
      'a family without such pushes',
      { id: 'bitcoin', vmType: 'bitcoin-vm', hubChainId: '7' },
      'ws://one.example',
      'means nothing on bitcoin-vm',
    ],
  ])('refuses to be told of blocks by %s', (_what, chain, wsRpcUrl, problem) => {
    expect(() => load([{ ...chain, wsRpcUrl }])).toThrow(problem)
  })

  test('refuses a network that the family does not have', () => {
    const bitcoin = { id: 'bitcoin', vmType: 'bitcoin-vm', hubChainId: '7' }
    expect(
      load([{ ...bitcoin, additionalData: { network: 'regtest' } }]).chains.get('bitcoin')?.network,
    ).toBe('regtest')
    expect(() => load([{ ...bitcoin, additionalData: { network: 'constructor' } }])).toThrow(
      /additionalData\.network: no Bitcoin network/,
    )
  })

  test('has no hub when none is given', () => {
    expect(load([base]).hub).toBeUndefined()
  })
})

describe('payers of fills', () => {
  const account = `0x${'a1'.repeat(20)}`

  test('are listed by family', () => {
    const listed = { fillContracts: [account], fillPayers: [account] }
    expect(load([{ ...base, ...listed }]).chains.get('base')).toMatchObject(listed)
  })

  test.each([
    ['no account', { fillPayers: ['0x12'] }, 'fillPayers'],
    [
      'an account of another family',
      { fillContracts: ['1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av'] },
      'fillContracts',
    ],
    ['nobody', { fillPayers: [`0x${'00'.repeat(20)}`] }, 'fillPayers'],
    [
      'a depository',
      { depository: account, fillPayers: [account.toUpperCase().replace('0X', '0x')] },
      'fillPayers',
    ],
    ['another depository', { additionalDepositories: [account], fillContracts: [account] }, 'fillContracts'],
  ])('that are %s stop the start', (_name, change, setting) => {
    expect(problemsOf(() => load([{ ...base, ...change }]))).toEqual([
      `chains.local.json: chains[0].${setting} holds an account that can pay no fill`,
    ])
  })

  test('stop the start where the chain itself names who pays', () => {
    const bitcoin = { ...base, id: 'bitcoin', vmType: 'bitcoin-vm' }
    const fillPayers = ['1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av']
    expect(problemsOf(() => load([{ ...bitcoin, depository: fillPayers[0], fillPayers }]))).toEqual([
      'chains.local.json: chains[0].fillPayers means nothing on bitcoin-vm',
    ])
  })
})

describe('a bad configuration', () => {
  test('is refused with every problem of every chain at once, by setting', () => {
    const problems = problemsOf(() =>
      load(
        [
          base,
          { ...base, vmType: 'canary-vm' },
          { ...base, id: 'CANARY', hubChainId: 'canary' },
          { ...base, httpRpcUrl: 'canary.example/key' },
          { ...base, id: 'twice', httpRpcUrl: ['http://canary/key', 'http://canary/key'] },
          { ...base, id: 'few', rpcThreshold: 2 },
          'canary',
        ],
        { hubJson: { ...hub, environment: 'canary', oracleAddress: '$HUB_ORACLE' } },
      ),
    )
    expect(problems.map((line) => line.replace(/: (is required and )?must.*?( \(set|$)/, '$2'))).toEqual([
      'chains.local.json: chains[1].vmType',
      'chains.local.json: chains[2].id',
      'chains.local.json: chains[2].hubChainId',
      'chains.local.json: chains[3].httpRpcUrl: endpoint 1 is not an http(s) URL',
      'chains.local.json: chains[4].httpRpcUrl: one endpoint is named twice',
      'chains.local.json: chains[5].rpcThreshold is above the number of endpoint hosts',
      'chains.local.json: chains[6]',
      'chains.local.json: base is listed twice',
      'chains.hub.local.json: environment',
      'chains.hub.local.json: oracleAddress (set HUB_ORACLE)',
    ])
    expect(problems.join('\n')).not.toMatch(/canary/i)
  })

  test.each([
    ['another environment', { environment: 'mainnets.prod', chains: [] }],
    ['no environment', { chains: [] }],
    ['no chains', { environment: 'local' }],
    ['null', null],
    ['a list', []],
  ])('is one with %s', (_name, chainsJson) => {
    expect(problemsOf(() => load([], { chainsJson })).length).toBeGreaterThan(0)
  })

  test('is any other JSON, and never an unnamed failure', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(problemsOf(() => load([json], { hubJson: json })).length).toBeGreaterThan(0)
      }),
    )
  })
})

test.each(['local', 'testnets.prod', 'mainnets.prod'])(
  'the files of %s load without variables',
  (environment) => {
    const read = (name: string): unknown =>
      JSON.parse(
        readFileSync(new URL(`../../../../configs/${name}.${environment}.json`, import.meta.url), 'utf8'),
      )
    const registry = loadChains({
      environment,
      chainsJson: read('chains'),
      hubJson: read('chains.hub'),
      variables: {},
    })
    expect(registry.chains.size).toBeGreaterThan(0)
    for (const chain of [...registry.chains.values(), registry.hub]) {
      expect(chain?.ready).toBe(false)
      expect(chain?.unsetVariables).toHaveLength(1)
    }
  },
)
