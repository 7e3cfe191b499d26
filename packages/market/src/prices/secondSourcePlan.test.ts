// Goal: which prices need two sources, which of these count as two, and what a price lacks before it can be quoted.
// Method: sources and hosts named by hand, every row of the rules.
import { describe, expect, test } from 'vitest'
import { hasIndependentPair, hostOf, planSources, type SourceHosts } from './secondSource.ts'

const feed = (chain: string, source = `feed ${chain}`) => ({ source, chain })
const llama = { adapter: 'defillama', id: 'x' } as const
const hermes = { adapter: 'hermes', id: 'x' } as const

/** Hosts of the chains with endpoints, and of the services that are switched on. */
function reach(chains: Record<string, string[]>, adapters: Record<string, string> = {}): SourceHosts {
  return {
    isExempt: false,
    chains: new Map(Object.entries(chains)),
    adapters: new Map(Object.entries(adapters)),
  }
}

type Sources = Pick<Parameters<typeof planSources>[0], 'feeds' | 'http'>
type Planned = readonly [rule: string, lacking: readonly string[], hasProblem: boolean]

function planned({ feeds, http }: Sources, hosts: SourceHosts): Planned {
  const { secondSource, lackingChains, problem } = planSources({ key: 'ETH/USD', feeds, http }, hosts)
  return [secondSource, lackingChains, problem !== undefined]
}

describe('Q-171: a price', () => {
  test.each<[string, Sources, SourceHosts, Planned]>([
    [
      'of one feed has one source',
      { feeds: [feed('a')], http: [] },
      reach({ a: ['one'] }),
      ['single', [], false],
    ],
    [
      'of one feed lacks its chain',
      { feeds: [feed('a')], http: [] },
      reach({ b: ['one'] }),
      ['single', ['a'], false],
    ],
    [
      'of two feeds over hosts apart needs both',
      { feeds: [feed('a'), feed('b')], http: [] },
      reach({ a: ['one'], b: ['two'] }),
      ['required', [], false],
    ],
    [
      'of two feeds waits for the chain that has no endpoint',
      { feeds: [feed('a'), feed('b')], http: [] },
      reach({ a: ['one'] }),
      ['required', ['b'], false],
    ],
    [
      'of two feeds on chains without endpoints needs and lacks both',
      { feeds: [feed('a'), feed('b')], http: [] },
      reach({}),
      ['required', ['a', 'b'], false],
    ],
    [
      'of two feeds on one chain without endpoints has one source, whoever runs the chain',
      { feeds: [feed('a'), feed('a', 'another')], http: [] },
      reach({}),
      ['single', ['a', 'a'], false],
    ],
    [
      'of one feed and a service that is off has one source',
      { feeds: [feed('a')], http: [llama] },
      reach({ a: ['one'] }),
      ['single', [], false],
    ],
    [
      'of a service lacks nothing while a chain has no endpoint, if a second one answers',
      { feeds: [feed('a')], http: [llama, hermes] },
      reach({}, { defillama: 'two', hermes: 'three' }),
      ['required', [], false],
    ],
    [
      'of services on one host is a mistake',
      { feeds: [], http: [llama, hermes] },
      reach({}, { defillama: 'two', hermes: 'two' }),
      ['single', [], true],
    ],
    [
      'of two feeds over one host is a mistake even while a third has no endpoint, which would be apart',
      { feeds: [feed('a'), feed('b'), feed('c')], http: [] },
      reach({ a: ['one'], b: ['one'] }),
      ['required', ['c'], true],
    ],
    [
      'without a source that is switched on has none, and lacks no chain',
      { feeds: [], http: [llama] },
      reach({}),
      ['single', [], false],
    ],
  ])('%s', (_name, sources, hosts, expected) => {
    expect(planned(sources, hosts)).toEqual(expected)
  })

  test('is exempt in the environment local, whatever it lacks', () => {
    const local = { ...reach({}), isExempt: true }
    expect(planned({ feeds: [feed('a')], http: [] }, local)).toEqual(['exempt', [], false])
  })
})

describe('two sources', () => {
  const hostsOf = new Map([
    ['a', new Set(['one', 'two'])],
    ['b', new Set(['two', 'three'])],
    ['c', new Set(['three'])],
  ])

  test.each([
    [['a', 'c'], true],
    [['c', 'a'], true],
    [['a', 'b'], false],
    [['b', 'c'], false],
    [['a', 'b', 'c'], true],
    [['a'], false],
    [['a', 'a'], false],
    [[], false],
    [['a', 'unknown'], false],
    [['unknown', 'a'], false],
    [['unknown', 'other unknown'], false],
  ])('of %j are apart: %s', (sources, expected) => {
    expect(hasIndependentPair(sources, hostsOf)).toBe(expected)
  })
})

test.each([
  ['https://RPC.example:8545/v2/key', 'rpc.example'],
  ['wss://Rpc.Example/', 'rpc.example'],
  ['http://user:word@127.0.0.1:7575', '127.0.0.1'],
])('the host of %s is %s', (url, host) => {
  expect(hostOf(url)).toBe(host)
})
