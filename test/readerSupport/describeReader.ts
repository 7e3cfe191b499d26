import type { SettlingChain } from '@causeway/chains'
import { UpstreamUnavailableError } from '@causeway/core'
import { describe, expect, test } from 'vitest'

/** A chain of a family behind one endpoint that its test can make strange. */
export type ReaderFixture = {
  readonly settling: SettlingChain
  /** One after the other; their ids. */
  deposit(): Promise<string>
  /** From below what was read to the newest. */
  newest(): Promise<{ readonly known: bigint; readonly from: bigint; readonly to: bigint }>
  /** The endpoint does not answer for it. */
  refuse(transactionId: string): void | Promise<void>
  /** The endpoint answers for it, and no list names it. Absent where whole blocks are read. */
  leaveOut?(transactionId: string): void | Promise<void>
  heal(): void | Promise<void>
}

const signal = () => AbortSignal.timeout(30_000)

/** Rules that a watcher relies on, whatever the family. @source F-70, F-72 */
export function describeReader(family: string, start: () => Promise<ReaderFixture>): void {
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
      // Nothing of a whole block comes late.
      if (leaveOut === undefined) return expect(lateBlocks).toBe(0n)
      await leaveOut(late)
      const range = await newest()
      expect((await settling.depositPass(range, signal())).transactions).toEqual([other])
      await heal()
      // A watcher lists younger blocks again where there are late ones, else the newest alone.
      const next = lateBlocks === 0n ? { known: range.to, from: range.to, to: range.to } : range
      expect((await settling.depositPass(next, signal())).transactions).toContain(late)
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
  })
}
