import type { PlannedTransaction } from './fillTransaction.ts'
import type { ChainCounts, FillWallet } from './fillWallet.ts'
import { activeRecords, nextMove, nextNonce } from './nextMove.ts'
import type { Outbox } from './outbox.ts'
import type { SignedRecord } from './signedRecord.ts'

/** What a new record is about. */
export type Subject = Pick<SignedRecord, 'id' | 'kind' | 'orderId' | 'deadline'>

/** One chain's part of the solver: every transaction of the fill wallet there goes through it. */
export type ChainDesk = {
  readonly wallet: FillWallet
  /** Looks at every record that is not at its end and does what is next. */
  advance(): Promise<ChainCounts>
  /** Signs and keeps. A chore is released at once, and sent by the next `advance`. */
  begin(subject: Subject, transaction: PlannedTransaction & { readonly gas: bigint }): Promise<SignedRecord>
  /** Keeps what the service said, then sends the transaction or takes its nonce for nothing. */
  release(record: SignedRecord, release: 'given' | 'refused'): Promise<void>
  /** Lets another transaction take the nonce; which of the two is mined shows later. */
  cancel(record: SignedRecord): Promise<void>
}

export function createChainDesk(wallet: FillWallet, outbox: Outbox, log: (line: string) => void): ChainDesk {
  const own = () => outbox.all().filter(({ chainId }) => chainId === wallet.chainId)

  async function step(record: SignedRecord, counts: ChainCounts): Promise<void> {
    const move = nextMove(record, await wallet.factsOf(record, counts))
    switch (move.kind) {
      case 'wait':
        return
      case 'settle':
        log(`${record.kind} ${record.id}: ${move.outcome} (${record.transaction.hash})`)
        return outbox.save({ ...record, outcome: move.outcome })
      case 'cancel':
        return cancel(record)
      case 'broadcast':
        return wallet.broadcast(
          move.what === 'cancellation' && record.cancellation !== undefined
            ? record.cancellation
            : record.transaction,
        )
    }
  }

  async function cancel(record: SignedRecord): Promise<void> {
    if (record.cancellation !== undefined) return
    const cancellation = await wallet.signCancellation(record.nonce)
    await outbox.save({ ...record, cancellation })
    log(`${record.kind} ${record.id}: its nonce ${record.nonce} is taken for nothing`)
    return wallet.broadcast(cancellation)
  }

  return {
    wallet,
    cancel,
    async release(record, release) {
      const decided: SignedRecord = { ...record, release }
      await outbox.save(decided)
      if (release === 'given') await wallet.broadcast(decided.transaction)
      else await cancel(decided)
    },
    async advance() {
      const counts = await wallet.counts()
      for (const record of activeRecords(own(), counts.latestCount)) await step(record, counts)
      return counts
    },
    async begin(subject, transaction) {
      const { latestCount } = await wallet.counts()
      const nonce = nextNonce(own(), latestCount)
      const signed = await wallet.sign({ ...transaction, nonce })
      const attempt = (outbox.latest(subject.id)?.attempt ?? -1) + 1
      const record: SignedRecord = {
        ...{ ...subject, attempt, nonce, chainId: wallet.chainId, transaction: signed },
        release: subject.kind === 'chore' ? 'given' : 'asked',
        ...{ outcome: 'open', failureReported: false },
      }
      await outbox.save(record)
      log(`${subject.kind} ${subject.id}: signed with nonce ${nonce} (${signed.hash})`)
      return record
    },
  }
}
