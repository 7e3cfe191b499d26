// A chain is signed for while its final blocks stay what they were, and never after one changed.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, type FinalBlock, UpstreamUnavailableError } from '@causeway/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { operate } from '../../test/fixtures/operate.ts'
import { evidence } from '../../test/fixtures/world.ts'
import { folderState } from '../compose/operatorCommands.ts'
import { type ChainWatch, createChainWatch } from './chainWatch.ts'
import { createHaltStore, type HaltStore } from './haltStore.ts'
import { followedAfterUseMs } from './watchedChain.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-halt-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A chain whose blocks the test writes. */
class Chain {
  blocks = new Map<bigint, string>()
  newest: FinalBlock = { number: 100n, hash: 'h100' }
  isSilent = false
  problems: readonly string[] = []
  hasBlocks = true
  isLinked = false
  linked = 0
  /** Blocks in all readings. */
  read = 0
  /** Readings that wait. */
  held: Partial<Record<'verify' | 'readHash', Promise<void>>> = {}

  constructor() {
    this.grow(100n)
  }
  grow(number: bigint, hash = `h${number}`): void {
    this.newest = { number, hash }
    this.blocks.set(number, hash)
  }
  /** Holds a reading up. @returns what lets it go on */
  hold(reading: 'verify' | 'readHash'): () => void {
    let goOn = () => {}
    this.held[reading] = new Promise((resolve) => {
      goOn = resolve
    })
    return () => goOn()
  }
  watched() {
    const refuseWhenSilent = () => {
      if (this.isSilent) throw new UpstreamUnavailableError('silent')
    }
    const finalBlocks = {
      readNewest: async () => {
        refuseWhenSilent()
        return this.newest
      },
      readHash: async (number: bigint) => {
        refuseWhenSilent()
        await this.held.readHash
        this.read += 1
        return this.blocks.get(number)
      },
      ...(this.isLinked && {
        readLinks: async (from: bigint, { noted }: { readonly noted: readonly bigint[] }) => {
          refuseWhenSilent()
          this.linked += 1
          const end = [...this.blocks.keys()].reduce((most, one) => (one > most ? one : most), 0n)
          const links: FinalBlock[] = []
          const isFew = end <= from + BigInt(2 + noted.length)
          for (let number = from < end ? from : end; number <= end; number++) {
            if (!isFew && number !== from && number !== end && !noted.includes(number)) continue
            links.push({ number, hash: this.blocks.get(number) ?? '' })
          }
          this.read += links.length
          return links
        },
      }),
    }
    return {
      id: 'ethereum',
      verify: async () => {
        refuseWhenSilent()
        await this.held.verify
        return this.problems
      },
      finalBlocks: () => (this.hasBlocks ? finalBlocks : undefined),
    }
  }
}

type WatchOptions = {
  stateDirectory?: string
  lifted?: string[]
  resumed?: string[]
  clock?: { nowMs: number }
}

async function watchOf(chain: Chain, options: WatchOptions = {}) {
  const { stateDirectory, lifted = [], resumed = [], clock = { nowMs: 0 } } = options
  return createChainWatch({
    chains: [chain.watched()],
    store: stateDirectory === undefined ? undefined : createHaltStore(stateDirectory),
    checkTimeoutMs: 1_000,
    headAgeMaxMs: 30_000,
    onForget: (chainId) => void lifted.push(chainId),
    onResume: (chainId) => void resumed.push(chainId),
    now: () => clock.nowMs,
    log: { error: () => undefined, warn: () => undefined, info: () => undefined },
  })
}

function refusal(watch: ChainWatch): string {
  try {
    watch.refuseUnlessReady('ethereum')
    return 'ready'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'failed'
  }
}

describe('a chain', () => {
  test('is not signed for before it was checked', async () => {
    const watch = await watchOf(new Chain())
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    await watch.check()
    expect(refusal(watch)).toBe('ready')
  })

  test('that is silent at first is taken up when it answers', async () => {
    const chain = new Chain()
    chain.isSilent = true
    const watch = await watchOf(chain)
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    chain.isSilent = false
    await watch.check()
    expect(refusal(watch)).toBe('ready')
  })

  test('O-32: that was silent at the start is taken up within a second of its answer, without the slower look', async () => {
    const chain = new Chain()
    const clock = { nowMs: 0 }
    chain.isSilent = true
    const watch = await watchOf(chain, { clock })
    await watch.check()
    await watch.follow()
    chain.isSilent = false
    clock.nowMs = 999
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    clock.nowMs = 1_000
    await watch.follow()
    expect(refusal(watch)).toBe('ready')
  })

  test('O-32: that answers later and contradicts its configuration is not taken up', async () => {
    const chain = new Chain()
    chain.isSilent = true
    const watch = await watchOf(chain)
    await watch.check()
    chain.isSilent = false
    chain.problems = ['another chain id']
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    chain.problems = []
    await watch.check()
    expect(refusal(watch)).toBe('ready')
  })

  test('that contradicts its configuration is not taken up', async () => {
    const chain = new Chain()
    chain.problems = ['another chain id']
    const watch = await watchOf(chain)
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
  })

  test.each([
    ['with blocks', true],
    ['without blocks', false],
  ])(
    'P-96: %s that falls silent is shown as such, is still tried, and is ready when it answers',
    async (_, hasBlocks) => {
      const chain = new Chain()
      chain.hasBlocks = hasBlocks
      const watch = await watchOf(chain)
      await watch.check()
      expect(watch.statusOf('ethereum')).toBe('ready')
      chain.isSilent = true
      await watch.check()
      expect(watch.statusOf('ethereum')).toBe('silent')
      expect(refusal(watch)).toBe('ready')
      chain.isSilent = false
      await watch.check()
      expect(watch.statusOf('ethereum')).toBe('ready')
    },
  )

  test('stays usable while it grows, and while it is silent', async () => {
    const chain = new Chain()
    const watch = await watchOf(chain)
    for (const number of [100n, 101n, 105n]) {
      chain.grow(number)
      await watch.check()
    }
    chain.isSilent = true
    await watch.check()
    expect(refusal(watch)).toBe('ready')
  })

  test('P-95: whose final block is another one is halted for good', async () => {
    const chain = new Chain()
    const watch = await watchOf(chain)
    await watch.check()
    chain.grow(100n, 'other')
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
    chain.grow(100n)
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('P-95: that ends below a final block is doubted once, and halted when it stays so', async () => {
    const chain = new Chain()
    const watch = await watchOf(chain)
    await watch.check()
    chain.blocks.clear()
    chain.grow(90n)
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  const at80 = evidence('ethereum', { blockNumber: 80n, blockHash: 'h80' })

  test('P-95: that is doubted stays so while attestations under way end, and is halted at the second look', async () => {
    const chain = new Chain()
    const watch = await watchOf(chain)
    await watch.check()
    chain.blocks.clear()
    chain.grow(90n)
    await watch.check()
    watch.observe([at80])
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('P-95: that was not verified is not made ready by an attestation', async () => {
    const chain = new Chain()
    chain.problems = ['another chain id']
    const watch = await watchOf(chain)
    watch.observe([at80])
    expect(refusal(watch)).toBe('CHAIN_NOT_CHECKED')
    chain.problems = []
    chain.grow(80n, 'x80')
    // Read before the chain was verified, the block counts for nothing afterwards either.
    for (let look = 0; look < 2; look++) await watch.check()
    expect(refusal(watch)).toBe('ready')
  })

  test('P-96: that is silent is ready again by an attestation', async () => {
    const chain = new Chain()
    const watch = await watchOf(chain)
    await watch.check()
    chain.isSilent = true
    await watch.check()
    watch.observe([at80])
    expect(watch.statusOf('ethereum')).toBe('ready')
  })

  test('that lags once is ready again when it has caught up', async () => {
    const chain = new Chain()
    const watch = await watchOf(chain)
    await watch.check()
    chain.blocks.clear()
    await watch.check()
    chain.grow(100n)
    await watch.check()
    expect(refusal(watch)).toBe('ready')
  })

  test('is halted by an attestation that rests on another block of a known height', async () => {
    const watch = await watchOf(new Chain())
    await watch.check()
    watch.observe([evidence('ethereum', { blockNumber: 80n, blockHash: 'h80' })])
    expect(() => watch.observe([evidence('ethereum', { blockNumber: 80n, blockHash: 'x80' })])).toThrow(
      expect.objectContaining({ code: 'CHAIN_HALTED', retryAfterSeconds: 60 }),
    )
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })
})

describe.each([
  ['block by block', true],
  ['by hashes alone', false],
])('a chain that is followed %s', (_how, isLinked) => {
  const at = (number: bigint) => evidence('ethereum', { blockNumber: number, blockHash: `h${number}` })

  async function followed(options: WatchOptions = {}) {
    const chain = new Chain()
    chain.isLinked = isLinked
    const watch = await watchOf(chain, options)
    await watch.check()
    return { chain, watch }
  }
  const replace = (chain: Chain, from: bigint, to: bigint) => {
    for (let number = from; number <= to; number++) chain.grow(number, `x${number}`)
  }

  test('and rewritten is halted by the next look, and what was kept of it is dropped', async () => {
    const lifted: string[] = []
    const { chain, watch } = await followed({ lifted })
    await watch.follow()
    expect([refusal(watch), lifted]).toEqual(['ready', []])
    replace(chain, 100n, 103n)
    await watch.follow()
    expect([refusal(watch), lifted]).toEqual(['CHAIN_HALTED', ['ethereum']])
  })

  test('P-97: hides no replaced block behind a newer one that was read after it', async () => {
    const { chain, watch } = await followed()
    for (let number = 101n; number <= 104n; number++) chain.grow(number)
    watch.observe([at(104n)])
    // Above the anchor, and replaced before it was linked: only what was noted tells.
    replace(chain, 103n, 110n)
    await watch.follow()
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('and still linked stays ready, however far it grew between two looks', async () => {
    const clock = { nowMs: 0 }
    const { chain, watch } = await followed({ clock })
    for (let number = 101n; number <= 140n; number++, clock.nowMs += 200) {
      chain.grow(number)
      if (number % 7n === 0n) watch.observe([at(number)])
      if (number % 13n === 0n) await watch.follow()
    }
    await watch.follow()
    expect(refusal(watch)).toBe('ready')
    replace(chain, 120n, 140n)
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('that ends too early or is silent is not halted by a fast look', async () => {
    const { chain, watch } = await followed()
    chain.isSilent = true
    await watch.follow()
    chain.isSilent = false
    chain.blocks.clear()
    chain.grow(90n)
    for (let look = 0; look < 5; look++) await watch.follow()
    expect(refusal(watch)).toBe('ready')
  })

  test('P-97: is not followed when nothing of it was used for long, and nothing kept is used then', async () => {
    const [clock, resumed, lifted] = [{ nowMs: 0 }, [] as string[], [] as string[]]
    const { chain, watch } = await followed({ clock, resumed, lifted })
    expect(watch.useKept('ethereum')).toBe(true)
    clock.nowMs += followedAfterUseMs
    replace(chain, 100n, 100n)
    await watch.follow()
    expect(refusal(watch)).toBe('ready')
    expect(watch.keptWindows()).toEqual([])
    expect([watch.useKept('ethereum'), watch.useKept('ethereum'), resumed]).toEqual([
      false,
      false,
      ['ethereum'],
    ])
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('tells its newest final block, and since when that stands', async () => {
    const clock = { nowMs: 0 }
    const { chain, watch } = await followed({ clock })
    clock.nowMs += 5_000
    await watch.follow()
    expect(watch.finalHeads()).toEqual([{ chain: 'ethereum', number: 100n, ageMs: 5_000 }])
    chain.grow(101n)
    await watch.check()
    clock.nowMs += 700
    expect(watch.finalHeads()).toEqual([{ chain: 'ethereum', number: 101n, ageMs: 700 }])
  })

  test('tells how old its last look is', async () => {
    const clock = { nowMs: 0 }
    const { chain, watch } = await followed({ clock })
    clock.nowMs = 400
    expect(watch.keptWindows()).toEqual([{ chain: 'ethereum', ageMs: 400 }])
    await watch.follow()
    clock.nowMs = 700
    expect(watch.keptWindows()).toEqual([{ chain: 'ethereum', ageMs: 300 }])
    chain.isSilent = true
    await watch.follow()
    expect(watch.keptWindows()).toEqual([{ chain: 'ethereum', ageMs: 300 }])
  })
})

describe('a chain whose blocks are linked', () => {
  async function followed(clock: { nowMs: number }) {
    const chain = new Chain()
    chain.isLinked = true
    const watch = await watchOf(chain, { clock })
    await watch.check()
    return { chain, watch }
  }

  test('F-106: is linked as seldom as one with a block in two seconds, however fast blocks come', async () => {
    const clock = { nowMs: 0 }
    const { chain, watch } = await followed(clock)
    let number = 100n
    // Ten seconds with a look every half second, and five blocks a second.
    for (; clock.nowMs < 10_000; clock.nowMs += 500) {
      for (const end = number + 2n + (clock.nowMs % 1_000 === 0 ? 1n : 0n); number < end; )
        chain.grow(++number)
      await watch.follow()
    }
    expect(chain.linked).toBeLessThanOrEqual(6)
    expect(watch.finalHeads()[0]?.number).toBeGreaterThan(number - 10n)
    expect(watch.keptWindows()).toMatchObject([{ ageMs: 500 }])
    // Looks in between see it as well.
    for (let replaced = 120n; replaced <= number; replaced++) chain.grow(replaced, `x${replaced}`)
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('F-106: is linked at every look while no two blocks come between them', async () => {
    const clock = { nowMs: 0 }
    const { chain, watch } = await followed(clock)
    for (let number = 101n; number <= 120n; number++, clock.nowMs += 500) {
      chain.grow(number)
      await watch.follow()
    }
    expect(chain.linked).toBe(20)
  })

  test('F-122: is read no more often under steady attestations than they come, however fast blocks do', async () => {
    const attestingFor = async (blocksPerLook: bigint) => {
      const clock = { nowMs: 0 }
      const { chain, watch } = await followed(clock)
      for (let number = 100n; clock.nowMs < 20_000; clock.nowMs += 500) {
        for (const end = number + blocksPerLook; number < end; ) chain.grow(++number)
        if (clock.nowMs % 1_000 === 0)
          watch.observe([evidence('ethereum', { blockNumber: number, blockHash: `h${number}` })])
        await watch.follow()
      }
      expect(refusal(watch)).toBe('ready')
      return chain
    }
    const [fast, slow] = [await attestingFor(5n), await attestingFor(1n)]
    expect(fast.linked).toBeLessThanOrEqual(slow.linked)
    expect(fast.read).toBeLessThan(1.2 * slow.read)
  })

  test('F-122: is halted at the next look where an attestation rests on a newer block that was replaced', async () => {
    const clock = { nowMs: 0 }
    const { chain, watch } = await followed(clock)
    for (let number = 101n; number <= 110n; number++) chain.grow(number)
    await watch.follow()
    for (let number = 111n; number <= 114n; number++) chain.grow(number)
    watch.observe([evidence('ethereum', { blockNumber: 112n, blockHash: 'h112' })])
    for (let number = 112n; number <= 116n; number++) chain.grow(number, `x${number}`)
    clock.nowMs += 500
    await watch.follow()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })
})

describe('P-21: the head of a chain', () => {
  const later = { nowMs: 0 }
  async function watched(chain: Chain, restsOn?: string) {
    later.nowMs = 0
    const hub = new Chain()
    const watch = await createChainWatch({
      chains: [
        { ...chain.watched(), restsOn },
        { ...hub.watched(), id: 'hub' },
      ],
      store: undefined,
      checkTimeoutMs: 1_000,
      headAgeMaxMs: 30_000,
      now: () => later.nowMs,
      onForget: () => undefined,
      onResume: () => undefined,
      log: { error: () => undefined, warn: () => undefined, info: () => undefined },
    })
    return { watch, hub }
  }

  test.each([
    ['with blocks', true, true],
    ['with blocks without parents', true, false],
    ['without blocks', false, false],
  ])(
    'P-21: %s is agreed on by every look, and asked for once where the last one is too old',
    async (_, hasBlocks, isLinked) => {
      const chain = new Chain()
      Object.assign(chain, { hasBlocks, isLinked })
      const { watch } = await watched(chain)
      expect(watch.hasHeads(['ethereum'])).toBe(false)
      await watch.check()
      later.nowMs = 30_000
      expect(watch.hasHeads(['ethereum'])).toBe(true)
      later.nowMs = 30_001
      expect(watch.hasHeads(['ethereum'])).toBe(false)
      await watch.follow()
      // Chains without blocks are not followed between two looks.
      expect(watch.hasHeads(['ethereum'])).toBe(hasBlocks)
      later.nowMs = 90_000
      chain.isSilent = true
      await watch.check()
      await watch.follow()
      await expect(watch.requireHeads(['ethereum'])).rejects.toThrow(UpstreamUnavailableError)
      chain.isSilent = false
      await watch.requireHeads(['ethereum'])
      expect(watch.hasHeads(['ethereum'])).toBe(true)
    },
  )

  test('P-21: does not suffice where its facts rest on the hub, whose endpoints are silent', async () => {
    const { watch, hub } = await watched(new Chain(), 'hub')
    await watch.check()
    hub.isSilent = true
    later.nowMs = 40_000
    await watch.check()
    expect([watch.hasHeads(['ethereum']), watch.hasHeads([])]).toEqual([false, true])
    await expect(watch.requireHeads(['ethereum'])).rejects.toThrow(UpstreamUnavailableError)
  })

  test('P-21: is not agreed on by endpoints of another chain, nor by one that hangs', async () => {
    const chain = new Chain()
    chain.hasBlocks = false
    const { watch } = await watched(chain)
    chain.problems = ['another chain id']
    await expect(watch.requireHeads(['ethereum'])).rejects.toMatchObject({ code: 'CHAIN_NOT_CHECKED' })
    const hanging = { readNewest: () => new Promise<never>(() => {}), readHash: async () => undefined }
    const entry = { id: 'base', verify: async () => [], finalBlocks: () => hanging }
    const slow = await createChainWatch({
      chains: [entry],
      store: undefined,
      checkTimeoutMs: 50,
      headAgeMaxMs: 30_000,
      onForget: () => undefined,
      onResume: () => undefined,
      log: { error: () => undefined, warn: () => undefined, info: () => undefined },
    })
    await expect(slow.requireHeads(['base'])).rejects.toThrow(UpstreamUnavailableError)
  })
})

describe('O-21: with a store that processes share', () => {
  function sharedStore() {
    const halts = new Map<string, undefined>()
    const state = { isAway: false }
    const answer = async <T>(said: () => T): Promise<T> => {
      if (state.isAway) throw new UpstreamUnavailableError('away')
      return said()
    }
    const store: HaltStore = {
      isShared: true,
      load: () => answer(() => new Map(halts)),
      save: (id) => answer(() => void halts.set(id, undefined)),
      has: (id) => answer(() => halts.has(id)),
      clear: (id) => answer(() => halts.delete(id)),
    }
    return { store, state, halts }
  }
  const watchOver = async (chain: Chain, store: HaltStore, lifted: string[] = []) => {
    const watch = await createChainWatch({
      chains: [chain.watched()],
      store,
      checkTimeoutMs: 1_000,
      headAgeMaxMs: 30_000,
      onForget: (chainId) => void lifted.push(chainId),
      onResume: () => undefined,
      log: { error: () => undefined, warn: () => undefined, info: () => undefined },
    })
    await watch.check()
    return watch
  }

  test('O-21: a halt is seen by every process at its next fast look, and what was kept is dropped', async () => {
    const { store } = sharedStore()
    const [chain, lifted] = [new Chain(), [] as string[]]
    const [one, other] = [await watchOver(chain, store), await watchOver(new Chain(), store, lifted)]
    chain.grow(100n, 'other')
    await one.check()
    await other.follow()
    expect([refusal(one), refusal(other), lifted]).toEqual(['CHAIN_HALTED', 'CHAIN_HALTED', ['ethereum']])
    await store.clear('ethereum')
    chain.grow(100n)
    for (const watch of [one, other]) await watch.check()
    expect([refusal(one), refusal(other)]).toEqual(['ready', 'ready'])
  })

  test('O-21: a halt that comes while a chain without blocks is looked at stays', async () => {
    const { store, halts } = sharedStore()
    const chain = new Chain()
    chain.hasBlocks = false
    const watch = await watchOver(chain, store)
    const resolve = chain.hold('verify')
    const look = watch.check()
    halts.set('ethereum', undefined)
    await watch.follow()
    resolve()
    await look
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })

  test('O-21: a look that began before a halt was cleared halts the chain no more', async () => {
    const { store, halts } = sharedStore()
    const chain = new Chain()
    const watch = await watchOver(chain, store)
    const resolve = chain.hold('readHash')
    chain.grow(100n, 'other')
    const look = watch.follow()
    halts.set('ethereum', undefined)
    const next = watch.follow()
    await expect.poll(() => refusal(watch)).toBe('CHAIN_HALTED')
    await store.clear('ethereum')
    await watch.check()
    expect(refusal(watch)).toBe('ready')
    resolve()
    await Promise.all([look, next])
    expect(refusal(watch)).toBe('ready')
  })

  test('O-21: a halt that could not be written is written once the store is back, and not lifted meanwhile', async () => {
    const { store, state, halts } = sharedStore()
    const chain = new Chain()
    const watch = await watchOver(chain, store)
    state.isAway = true
    chain.grow(100n, 'other')
    for (let look = 0; look < 3; look += 1) await watch.check()
    expect([refusal(watch), halts.size]).toEqual(['CHAIN_HALTED', 0])
    state.isAway = false
    await watch.check()
    expect([refusal(watch), halts.size]).toEqual(['CHAIN_HALTED', 1])
    state.isAway = true
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
  })
})

describe('with a state directory', () => {
  async function haltedWatch(lifted: string[] = []) {
    const chain = new Chain()
    const watch = await watchOf(chain, { stateDirectory: directory, lifted })
    await watch.check()
    chain.grow(100n, 'other')
    await watch.check()
    return { chain, watch }
  }

  test('a halt outlives a restart', async () => {
    await haltedWatch()
    const again = await watchOf(new Chain(), { stateDirectory: directory })
    await again.check()
    expect(refusal(again)).toBe('CHAIN_HALTED')
  })

  test('a marker that cannot be read halts as well', async () => {
    await writeFile(join(directory, 'ethereum.halted.json'), '{ "blockNumber": ')
    const watch = await watchOf(new Chain(), { stateDirectory: directory })
    await watch.check()
    expect(refusal(watch)).toBe('CHAIN_HALTED')
    expect(await operate(['halted', 'list'], folderState(directory))).toBe(
      'ethereum: the marker cannot be read',
    )
  })

  test('the operator sees the halt and clears it in the running process, which forgets the chain', async () => {
    const lifted: string[] = []
    const { watch } = await haltedWatch(lifted)
    expect(await operate(['halted', 'list'], folderState(directory))).toBe(
      'ethereum: block 100 was h100 and is other',
    )
    expect(await operate(['halted', 'clear', 'ethereum'], folderState(directory))).toBe(
      'ethereum is not halted any more.',
    )
    await watch.check()
    expect(refusal(watch)).toBe('ready')
    expect(lifted).toEqual(['ethereum', 'ethereum'])
    expect(await operate(['halted', 'list'], folderState(directory))).toBe('No chain is halted.')
    await expect(operate(['halted', 'clear', 'ethereum'], folderState(directory))).rejects.toThrow(
      /not halted/,
    )
    const audited = (await operate(['audit', 'list'], folderState(directory))).split('\n')
    expect(audited.map((line) => line.split('  ').slice(2))).toEqual([
      ['halted.clear', 'ethereum', 'unchanged'],
      ['halted.clear', 'ethereum', 'done'],
    ])
  })

  test('the marker names the contradiction', async () => {
    await haltedWatch()
    const text = await readFile(join(directory, 'ethereum.halted.json'), 'utf8')
    expect(JSON.parse(text)).toEqual({ blockNumber: '100', knownHash: 'h100', foundHash: 'other' })
  })

  test('that is a file the start is refused', async () => {
    const path = join(directory, 'file')
    await writeFile(path, '')
    await expect(watchOf(new Chain(), { stateDirectory: path })).rejects.toThrow(ConfigurationError)
  })

  test.each([
    ['an unknown command', ['halted', 'lift']],
    ['no chain', ['halted', 'clear']],
    ['a chain that is not halted', ['halted', 'clear', 'base']],
    ['another topic', ['keys', 'list']],
  ])('the command refuses %s', async (_what, words) => {
    await expect(operate(words, folderState(directory))).rejects.toThrow(ConfigurationError)
    await expect(operate(words, undefined)).rejects.toThrow(ConfigurationError)
  })
})
