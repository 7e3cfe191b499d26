import { randomUUID } from 'node:crypto'
import type { LinePayingChain, LineWork } from '@causeway/chains'
import { feeAt, type OwnOutput } from '@causeway/core'
import type { Subject } from './chainDesk.ts'
import { isPassing } from './lineWork.ts'
import type { PlacedRecord } from './nextLineMove.ts'
import type { LineRecord } from './signedRecord.ts'

/** Virtual bytes of one more input. @source families.md 5.2 */
const inputBytes = 68
/** Coins of one transaction at most; more wait for the next one. */
const gatheredMax = 50
const gatherPauseMs = 600_000

/** Takes coins of a fill wallet that stand beside its line into the line. */
export type LineGathering = {
  /** Where there are some that are worth their fee. */
  gather(): Promise<void>
  /** The same while the market is cheap, and once in ten minutes. */
  gatherWhileCheap(): Promise<void>
}

export function createLineGathering(options: {
  readonly chainId: number
  readonly paying: Pick<LinePayingChain, 'besideLine'>
  /** What may be paid now; satoshi per 1,000 virtual bytes. */
  readonly fees: () => bigint
  readonly marketFees: () => bigint | undefined
  /** Absent: gathered where a payment lacks them alone. */
  readonly gatherBelow: bigint | undefined
  readonly standing: () => Promise<{ readonly placed: readonly PlacedRecord[] }>
  readonly begin: (work: LineWork, subject: Subject, gathered: readonly OwnOutput[]) => Promise<LineRecord>
  readonly nowMs: () => number
}): LineGathering {
  const { chainId, paying, fees, marketFees, gatherBelow, standing, begin, nowMs } = options
  let gatheredAtMs = Number.NEGATIVE_INFINITY

  async function gather(): Promise<void> {
    gatheredAtMs = nowMs()
    const price = fees()
    const { placed } = await standing()
    if (placed.some(({ record }) => record.kind === 'chore')) return
    const beside = await paying.besideLine()
    const worth = beside
      .filter(({ value }) => value > feeAt(price, inputBytes))
      .sort((one, other) => (one.value < other.value ? 1 : -1))
      .slice(0, gatheredMax)
    if (worth.length === 0) return
    const subject = { id: `gather-${chainId}-${randomUUID()}`, kind: 'chore' as const }
    await begin({ payments: [] }, { ...subject, orderId: undefined, deadline: undefined }, worth)
  }

  return {
    gather,
    async gatherWhileCheap() {
      const price = marketFees()
      if (gatherBelow === undefined || price === undefined || price > gatherBelow) return
      if (nowMs() - gatheredAtMs < gatherPauseMs) return
      try {
        await gather()
      } catch (error) {
        if (!isPassing(error)) throw error
      }
    },
  }
}
