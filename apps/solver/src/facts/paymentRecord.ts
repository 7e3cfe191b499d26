import type { Hex } from '@causeway/core'
import type { ContractPayingChain, FinalMark, LinePayingChain, PayingChain } from '@causeway/families'

/**
 * Record that a chain itself keeps of a fill wallet's payments. If it contradicts the solver's database, the chain is right:
 * the database may be restored from an old backup.
 */
export interface PaymentRecord {
  /**
   * @param id of an order, claim or refund
   * @param orderId of a refund, for chains on which a payment names its order alone
   * @throws DomainError where endpoints are silent or contradict each other
   */
  readFinal(id: Hex, orderId?: Hex): Promise<FinalMark>
  /** Mark of the same id by another wallet, `filler`. @throws like `readFinal`; Error on a chain that wallets cannot share by turns */
  readFinalOf(filler: Hex, id: Hex): Promise<FinalMark>
  /**
   * True if the chain refuses a transaction after its deadline. Otherwise an open payment may still land after its
   * deadline, until it is closed.
   */
  readonly endsByDeadline: boolean
}

/** The record of a chain whose fill contract remembers what each wallet paid, and refuses what comes too late. */
export const createContractRecord = ({
  readFinal,
  readFinalOf,
}: Pick<ContractPayingChain, 'readFinal' | 'readFinalOf'>): PaymentRecord => ({
  readFinal,
  readFinalOf,
  endsByDeadline: true,
})

/** The record of a chain where each payment leaves a mark of its own, or names itself in its wallet's line. */
export const createMarkedRecord = (
  chain: Pick<PayingChain | LinePayingChain, 'readFinal'>,
): PaymentRecord => ({
  readFinal: (id, orderId) => chain.readFinal(id, orderId === undefined ? {} : { orderId }),
  async readFinalOf() {
    throw new Error('wallets cannot share a chain on which what is signed has no deadline')
  },
  endsByDeadline: false,
})
