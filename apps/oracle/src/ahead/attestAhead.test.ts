// Goal: whatever a chain holds for its depository is attested once, before anyone asks, and nobody can make that cost
// more than it is worth. Attackers: a stranger who pays a depository with dust without end, an endpoint that is away or
// repeats itself, a chain that halts, a peer that never signs, an operator who stops the service in the middle.
import { type ReadOptions, type ScanStart, UpstreamUnavailableError } from '@causeway/core'
import { expect, test } from 'vitest'
import { type AheadOptions, createAttestAhead } from './attestAhead.ts'

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new UpstreamUnavailableError('stopped')))
  })

/** A chain of the test: what each block holds, up to the final one. */
class Chain {
  blocks = new Map<bigint, readonly string[]>()
  payments = new Map<bigint, readonly string[]>()
  readonly remembered: string[] = []
  /** Payments are never answered for. */
  isMute = false
  final = 0n
  isReady = true
  isSilent = false
  /** Blocks that one look holds. */
  span = 100n
  readonly starts: ScanStart[] = []
  followed = 0

  put(block: bigint, ...transactionIds: readonly string[]): void {
    this.blocks.set(block, transactionIds)
    if (block > this.final) this.final = block
  }
  pay(block: bigint, ...transactionIds: readonly string[]): void {
    this.payments.set(block, transactionIds)
    if (block > this.final) this.final = block
  }
  async scan(start: ScanStart) {
    this.starts.push(start)
    if (this.isSilent) throw new UpstreamUnavailableError('silent')
    const after = 'after' in start ? start.after : 0n
    const through = after + this.span < this.final ? after + this.span : this.final
    const foundIn = (blocks: ReadonlyMap<bigint, readonly string[]>) =>
      [...blocks].flatMap(([block, found]) => (block > after && block <= through ? found : []))
    return {
      through,
      isComplete: through === this.final,
      deposits: foundIn(this.blocks),
      payments: foundIn(this.payments),
    }
  }
  ahead() {
    return {
      id: 'base',
      isReady: () => this.isReady,
      finalBlock: () => this.final,
      keepFollowed: () => {
        this.followed += 1
      },
      reader: {
        scan: (start: ScanStart) => this.scan(start),
        rememberPayment: (transactionId: string, { signal }: ReadOptions) => {
          this.remembered.push(transactionId)
          return this.isMute ? untilAborted(signal) : Promise.resolve()
        },
      },
    }
  }
}

type Bench = ReturnType<typeof aheadOf>

function aheadOf(
  chain: Chain,
  options: Partial<Pick<AheadOptions, 'attest' | 'gather' | 'waitingMax'>> = {},
) {
  const clock = { nowMs: 0 }
  const prepared: string[] = []
  const counted: Record<string, number> = {}
  const waiting = { read: () => 0 }
  const ahead = createAttestAhead({
    chains: [chain.ahead()],
    attest: async (_chainId, transactionId) => {
      prepared.push(transactionId)
      return 'attested'
    },
    minutes: 15,
    waitingMax: 1_000,
    intervalMs: 3_600_000,
    metrics: {
      countAhead(_chain, outcome) {
        counted[outcome] = (counted[outcome] ?? 0) + 1
      },
      watchAhead(read) {
        waiting.read = read
      },
    },
    log: { error: () => undefined, warn: () => undefined, info: () => undefined },
    now: () => clock.nowMs,
    ...options,
  })
  return { ahead, clock, prepared, counted, waiting }
}

/** Number of tries in which a bench prepares one transaction while a part of the work fails each time. */
async function triesOf(
  part: 'attest' | 'gather',
  fails: Failing,
  looks: number,
): Promise<Bench & { tries: number }> {
  const chain = new Chain()
  chain.put(1n, '0xa')
  let tries = 0
  const failing = async (): Promise<false> => {
    tries += 1
    return fails()
  }
  const bench = aheadOf(
    chain,
    part === 'gather' ? { gather: failing } : { attest: () => failing().then(() => 'attested' as const) },
  )
  for (let look = 0; look < looks; look += 1) {
    await bench.ahead.attestNew()
    await bench.ahead.finishWaiting()
  }
  return { ...bench, tries }
}

type Failing = () => Promise<false>

const silentUpstream: Failing = () => Promise.reject(new UpstreamUnavailableError('silent'))
const tooFewSigned: Failing = () => Promise.resolve(false)

test('P-104: every deposit is prepared once, from so many minutes back and then block by block', async () => {
  const chain = new Chain()
  chain.put(3n, '0xa', '0xb')
  const { ahead, prepared } = aheadOf(chain)
  await ahead.attestNew()
  await ahead.attestNew()
  chain.put(5n, '0xc')
  await ahead.attestNew()
  expect(prepared).toEqual(['0xa', '0xb', '0xc'])
  expect(chain.starts).toEqual([{ minutes: 15 }, { after: 3n }])
})

test('a chain that stands is asked nothing, and stays followed', async () => {
  const chain = new Chain()
  chain.put(3n)
  const { ahead } = aheadOf(chain)
  for (let look = 0; look < 5; look += 1) await ahead.attestNew()
  expect([chain.starts.length, chain.followed]).toEqual([1, 5])
})

test('a gap is looked through in turns, and an endpoint that is away loses nothing', async () => {
  const chain = new Chain()
  chain.span = 2n
  for (let block = 1n; block <= 30n; block += 1n) chain.put(block, `0x${block}`)
  const { ahead, prepared } = aheadOf(chain)
  await ahead.attestNew()
  expect(prepared).toHaveLength(10)
  chain.isSilent = true
  await ahead.attestNew()
  chain.isSilent = false
  for (let look = 0; look < 3; look += 1) await ahead.attestNew()
  expect(prepared).toEqual(Array.from({ length: 30 }, (_none, index) => `0x${index + 1}`))
})

test('what was forgotten is prepared again', async () => {
  const chain = new Chain()
  chain.put(3n, '0xa')
  const { ahead, prepared } = aheadOf(chain)
  await ahead.attestNew()
  ahead.startOver()
  await ahead.attestNew()
  expect(prepared).toEqual(['0xa', '0xa'])
})

test('a look that is under way when all is forgotten hides nothing from the next one', async () => {
  const chain = new Chain()
  chain.put(3n, '0xa')
  const { ahead, prepared } = aheadOf(chain)
  const looking = ahead.attestNew()
  ahead.startOver()
  await looking
  await ahead.attestNew()
  expect(prepared).toEqual(['0xa', '0xa'])
})

test('of a chain that must not be signed for nothing is looked at', async () => {
  const chain = new Chain()
  chain.put(3n, '0xa')
  chain.isReady = false
  const { ahead, prepared } = aheadOf(chain)
  await ahead.attestNew()
  expect([prepared, chain.starts, chain.followed]).toEqual([[], [], 0])
})

test('dust without end waits in bounded memory, and what is beyond it is told', async () => {
  const chain = new Chain()
  for (let block = 1n; block <= 50n; block += 1n)
    chain.put(block, ...Array.from({ length: 100 }, (_none, index) => `0x${block}${index}`))
  const { ahead, counted, waiting } = aheadOf(chain)
  const looking = ahead.attestNew()
  await looking
  expect(counted).toEqual({ dropped: 4_000, prepared: 1_000 })
  expect(waiting.read()).toBe(0)
})

test('what holds no deposit is not asked for again', async () => {
  const chain = new Chain()
  chain.put(1n, '0xa')
  let tries = 0
  const { ahead, counted } = aheadOf(chain, {
    attest: async () => {
      tries += 1
      return 'empty'
    },
  })
  for (let look = 0; look < 3; look += 1) await ahead.attestNew()
  expect([tries, counted]).toEqual([1, { empty: 1 }])
})

const failures: readonly (readonly [string, 'attest' | 'gather', Failing])[] = [
  ['a chain that does not answer', 'attest', silentUpstream],
  ['a peer whose question fails', 'gather', silentUpstream],
  ['peers that do not sign', 'gather', tooFewSigned],
]

test.each(failures)('%s is tried three times, a look apart, and given up', async (_what, part, fails) => {
  const { tries, counted } = await triesOf(part, fails, 6)
  expect([tries, counted]).toEqual([3, { failed: 1 }])
})

test('a mistake of ours is told and not repeated', async () => {
  const { tries, counted } = await triesOf('attest', () => Promise.reject(new Error('a bug')), 3)
  expect([tries, counted]).toEqual([1, { failed: 1 }])
})

test.each(['attest', 'gather'] as const)(
  'what waited longer than its minutes is left for whoever asks: %s',
  async (part) => {
    const { ahead, clock, counted } = await triesOf(part, silentUpstream, 1)
    clock.nowMs += 15 * 60_000 + 1
    await ahead.attestNew()
    await ahead.finishWaiting()
    expect(counted).toEqual({ dropped: 1 })
  },
)

test('a peer that never answers holds no attestation up', async () => {
  const chain = new Chain()
  chain.put(1n, ...Array.from({ length: 20 }, (_none, index) => `0xa${index}`))
  const asked: string[] = []
  const { ahead, prepared } = aheadOf(chain, {
    gather: (_chainId, transactionId, signal) => {
      asked.push(transactionId)
      return untilAborted(signal)
    },
  })
  await ahead.attestNew()
  chain.put(2n, '0xb')
  await ahead.attestNew()
  expect([prepared.length, prepared.at(-1), asked.length]).toEqual([21, '0xb', 4])
  await ahead.close()
})

test('payments that nobody tells of hold no deposit up', async () => {
  const chain = new Chain()
  chain.isMute = true
  chain.pay(1n, ...Array.from({ length: 20 }, (_none, index) => `0xf${index}`))
  chain.put(2n, '0xa')
  const { ahead, prepared } = aheadOf(chain)
  await ahead.attestNew()
  chain.put(3n, '0xb')
  await ahead.attestNew()
  expect([prepared, chain.remembered.length]).toEqual([['0xa', '0xb'], 4])
  await ahead.close()
})

test('payments are remembered, and no flood of them takes the place of a deposit', async () => {
  const chain = new Chain()
  chain.pay(1n, ...Array.from({ length: 5_000 }, (_none, index) => `0xf${index}`))
  chain.put(2n, '0xa')
  const { ahead, prepared, counted } = aheadOf(chain)
  await ahead.attestNew()
  await ahead.finishWaiting()
  expect([prepared, chain.remembered.length]).toEqual([['0xa'], 1_000])
  expect(counted).toEqual({ dropped: 4_000, prepared: 1, remembered: 1_000 })
})

test('a stop ends what is being prepared, and begins nothing more', async () => {
  const chain = new Chain()
  chain.put(1n, ...Array.from({ length: 20 }, (_none, index) => `0x${index}`))
  const begun: string[] = []
  const { ahead } = aheadOf(chain, {
    attest: (_chainId, transactionId, signal) => {
      begun.push(transactionId)
      return untilAborted(signal)
    },
  })
  void ahead.attestNew()
  await expect.poll(() => begun.length).toBe(4)
  await ahead.close()
  expect(begun).toHaveLength(4)
})
