import type { Hex } from '@causeway/core'
import type { PaymentState } from '../../shared/payingChain.ts'
import type { OwnLedger } from './ownLedger.ts'
import type { PaymentRow, PaymentRows } from './paymentRow.ts'

/**
 * States of payments: the hub stores their nonces, and the exchange lists the transfers executed under those nonces.
 */
export class PaymentStates {
  readonly rows: PaymentRows
  readonly readLedger: (nonces: readonly bigint[]) => Promise<OwnLedger>
  readonly #wallet: Hex

  constructor(wallet: Hex, rows: PaymentRows, readLedger: PaymentStates['readLedger']) {
    this.rows = rows
    this.readLedger = readLedger
    this.#wallet = wallet
  }

  /**
   * Row, transfers and state of a payment. The row is read first: a closed one gets no further nonce, so the ledger
   * then tells about all of them. `closed` needs every nonce spent.
   */
  async look(id: Hex): Promise<{ row: PaymentRow; ledger: OwnLedger; state: PaymentState }> {
    const row = await this.rows.read(id)
    const ledger = await this.readLedger(row.nonces)
    const isPaid = (await this.hashOfPaid(id, row.nonces, ledger)) !== undefined
    const isClosed = row.isClosed && row.nonces.every((nonce) => isSpent(ledger, nonce))
    return { row, ledger, state: isPaid ? 'paid' : isClosed ? 'closed' : 'open' }
  }

  /** Hash of the executed payment. A transfer to the wallet itself only used the nonce up. */
  async hashOfPaid(id: Hex, nonces: readonly bigint[], ledger: OwnLedger): Promise<string | undefined> {
    for (const nonce of nonces) {
      const transfer = ledger.executedAt(nonce)
      if (transfer === undefined || transfer.destination === this.#wallet) continue
      if (await this.rows.owns(id, nonce)) return transfer.hash
    }
    return undefined
  }
}

/** True if nothing further can be executed under the nonce. */
export const isSpent = (ledger: OwnLedger, nonce: bigint): boolean =>
  ledger.executedAt(nonce) !== undefined || ledger.isExpired(nonce)
