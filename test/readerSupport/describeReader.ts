import { readFileSync } from 'node:fs'
import { UpstreamUnavailableError } from '@causeway/core'
import type { SettlingChain } from '@causeway/families'
import type { ChainClient } from '@causeway/rpc'
import { describe, expect, test } from 'vitest'
import type { Fault, Wire } from './wire.ts'

/** A chain of a family behind one endpoint that its test can make strange. */
export type ReaderFixture = {
  readonly settling: SettlingChain
  /** Client of the one endpoint, which `settling` reads. */
  readonly client: Pick<ChainClient, 'health' | 'trySizes'>
  /** Before the endpoint. */
  readonly wire: Pick<Wire, 'set'>
  /** One after the other; their ids. */
  deposit(): Promise<string>
  /** From below what was read to the newest. */
  newest(): Promise<{ readonly known: bigint; readonly from: bigint; readonly to: bigint }>
  /** The endpoint does not answer for it. */
  refuse(transactionId: string): void | Promise<void>
  /** The endpoint says that there is none of that id. */
  lose(transactionId: string): void | Promise<void>
  /** The endpoint answers for it, and no list names it. Absent where whole blocks are read. */
  leaveOut?(transactionId: string): void | Promise<void>
  heal(): void | Promise<void>
}

/** Why a family has no form of some rules. */
export type WithoutForm = Readonly<
  Partial<
    Record<'late lists' | 'blocks read apart' | 'long answers' | 'batches' | 'payments in blocks', string>
  >
>

/** Rules of what every family shares, which have no form in one; where each is tested. */
const sharedByAll = {
  'F-73': ['counts what is put aside, whoever put it there', 'test/alerts/money.test.ts'],
  'F-74': ['paces jobs, which name no family', 'apps/quote-api/src/jobs/runJobs.test.ts'],
  'F-84': ['is of nodes of Tron, which keep no bytecode', 'test/families/tronAnswers.test.ts'],
} as const

const signal = () => AbortSignal.timeout(30_000)
const root = new URL('../../', import.meta.url)

const takes = 3
/** Refuses more calls in one request than three, as nodes do. */
const refuseBatches: Fault = (asked) =>
  (asked.match(/"method":/g)?.length ?? 0) > takes
    ? { status: 413, text: `batch limit is ${takes} calls` }
    : 'pass'

/** Rules that a watcher relies on, whatever the family. @source F-70, F-72 */
export function describeReader(
  family: string,
  start: () => Promise<ReaderFixture>,
  withoutForm: WithoutForm,
): void {
  describe(family, () => {
    test('F-72: a transaction that no endpoint answers for is listed beside all others, which are read', async () => {
      const { settling, deposit, newest, refuse, heal } = await start()
      const [strange, honest] = [await deposit(), await deposit()]
      await refuse(strange)
      const listed = await settling.depositPass(await newest(), signal())
      expect([...listed.transactions].toSorted()).toEqual([strange, honest].toSorted())
      // A watcher passes by what is no answer, and by nothing else, however often it asks.
      for (let asked = 0; asked < 3; asked += 1)
        await expect(settling.deposits(strange, signal())).rejects.toBeInstanceOf(UpstreamUnavailableError)
      expect((await settling.deposits(honest, signal()))?.deposits).toHaveLength(1)
      await heal()
      expect((await settling.deposits(strange, signal()))?.deposits).toHaveLength(1)
    })

    test('F-70: what a list leaves out at first, a later look lists', async () => {
      const { settling, deposit, newest, leaveOut, heal } = await start()
      const [late, other] = [await deposit(), await deposit()]
      const { lateBlocks } = settling.steps ?? {}
      if (leaveOut === undefined) {
        expect(withoutForm).toHaveProperty('late lists')
        return expect(lateBlocks).toBe(0n)
      }
      await leaveOut(late)
      const range = await newest()
      expect((await settling.depositPass(range, signal())).transactions).toEqual([other])
      await heal()
      // A watcher lists younger blocks again where there are late ones, else the newest alone.
      const next = lateBlocks === 0n ? { known: range.to, from: range.to, to: range.to } : range
      expect((await settling.depositPass(next, signal())).transactions).toContain(late)
    })

    test('F-72: halves of a range list what the whole lists', async () => {
      const { settling, deposit, newest } = await start()
      const made = [await deposit(), await deposit()]
      const range = await newest()
      const middle = (range.from + range.to) / 2n
      const passOver = async (part: typeof range) => (await settling.depositPass(part, signal())).transactions
      const lower = await passOver({ ...range, to: middle })
      const upper =
        middle < range.to ? await passOver({ known: middle, from: middle + 1n, to: range.to }) : []
      expect(new Set([...lower, ...upper])).toEqual(new Set(made))
    })

    test('F-77: of a block that is read whole, each transaction is named', async () => {
      const { settling, deposit, newest } = await start()
      const made = [await deposit(), await deposit()]
      const { blockTransactions } = settling
      if (blockTransactions === undefined) return expect(withoutForm).toHaveProperty('blocks read apart')
      const { from, to } = await newest()
      const named: string[] = []
      for (let height = from; height <= to; height += 1n) {
        const block = await blockTransactions(height, signal())
        named.push(...(block?.transactions ?? []))
      }
      expect(named).toEqual(expect.arrayContaining(made))
    })

    test('F-75: a payment that no endpoint answers for is neither paid nor missing, and is read once one does', async () => {
      const { settling, deposit, refuse, heal } = await start()
      const transactionId = await deposit()
      const order = { orderId: `0x${'ab'.repeat(32)}`, extraData: '0x', payments: [], calls: [] } as const
      const read = () => settling.payment({ transactionId, ...order }, signal())
      await refuse(transactionId)
      for (let asked = 0; asked < 2; asked += 1)
        await expect(read()).rejects.toBeInstanceOf(UpstreamUnavailableError)
      await heal()
      expect((await read()).state).not.toBe('missing')
    })

    test('F-83: a transaction that endpoints do not have is none yet, and is found once they have it', async () => {
      const { settling, deposit, lose, heal } = await start()
      const transactionId = await deposit()
      await lose(transactionId)
      for (let asked = 0; asked < 2; asked += 1)
        expect(await settling.deposits(transactionId, signal())).toBeUndefined()
      await heal()
      expect((await settling.deposits(transactionId, signal()))?.deposits).toHaveLength(1)
    })

    test('F-70: a look names the last block of its range, by which the next one knows the chain', async () => {
      const { settling, deposit, newest } = await start()
      await deposit()
      const range = await newest()
      const { last } = await settling.depositPass(range, signal())
      expect(last?.number).toBe(range.to)
      await deposit()
      const next = await settling.depositPass({ ...range, known: range.to }, signal())
      expect(next.known).toEqual(last)
      expect((await settling.blockHashes([range.to], signal())).get(range.to)).toBe(last?.hash)
    })

    test('F-71: whoever names a transaction has it read, though no look lists it or came before', async () => {
      const { settling, deposit, leaveOut } = await start()
      const transactionId = await deposit()
      if (leaveOut === undefined) expect(withoutForm).toHaveProperty('late lists')
      await leaveOut?.(transactionId)
      expect((await settling.deposits(transactionId, signal()))?.deposits).toHaveLength(1)
    })

    test('F-76: whole blocks are read for payments where the family shows them there', async () => {
      const { settling, deposit } = await start()
      await deposit()
      if (settling.addresses?.blocks === undefined)
        return expect(withoutForm).toHaveProperty('payments in blocks')
      const height = await settling.head(signal())
      const { last } = await settling.addresses.blocks.payments(
        { known: height - 1n, from: height, to: height, transfersFrom: height },
        signal(),
      )
      expect(last?.number).toBe(height)
    })

    test('F-80: an endpoint that takes three calls in a request is read as every other one', async () => {
      const { settling, client, deposit, newest, wire } = await start()
      const made = [await deposit(), await deposit()]
      wire.set(refuseBatches)
      const { transactions } = await settling.depositPass(await newest(), signal())
      expect(new Set(transactions)).toEqual(new Set(made))
      for (const id of made) expect((await settling.deposits(id, signal()))?.deposits).toHaveLength(1)
      expect(client.health()).toMatchObject([{ healthy: true }])
    })

    test('F-81: an answer above 8 MiB about one transaction is read', async () => {
      const { settling, client, deposit, wire } = await start()
      if ('long answers' in withoutForm) return
      const large = await deposit()
      let padded = 0
      wire.set((asked) => {
        if (!asked.includes(large)) return 'pass'
        padded += 1
        return 'pad'
      })
      expect((await settling.deposits(large, signal()))?.deposits).toHaveLength(1)
      expect(padded).toBeGreaterThan(0)
      expect(client.health()).toMatchObject([{ healthy: true }])
    })

    test('F-82: an endpoint that fails at one name is asked about all others', async () => {
      const { settling, client, deposit, wire } = await start()
      const [strange, honest] = [await deposit(), await deposit()]
      wire.set((asked) => (asked.includes(strange) ? 'fail' : 'pass'))
      for (let asked = 0; asked < 8; asked += 1)
        await expect(settling.deposits(strange, signal())).rejects.toBeInstanceOf(UpstreamUnavailableError)
      expect((await settling.deposits(honest, signal()))?.deposits).toHaveLength(1)
      expect(client.health()).toMatchObject([{ healthy: true }])
    })

    test('F-85: what an endpoint takes at once is found by asking once', async () => {
      const { client, wire } = await start()
      wire.set(refuseBatches)
      const [sizes] = await client.trySizes()
      if (sizes?.calls === Number.POSITIVE_INFINITY) return expect(withoutForm).toHaveProperty('batches')
      expect(sizes?.calls).toBe(takes)
    })

    test.each(Object.entries(sharedByAll))('%s: is shown once for all families', (rule, [why, where]) => {
      expect(readFileSync(new URL(where, root), 'utf8'), why).toContain(`'${rule}: `)
    })
  })
}
