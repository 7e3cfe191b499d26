import { openSettlingChain } from '@causeway/chains'
import { recordsPayments } from '@causeway/contracts/codes'
import { isContractChain } from '@causeway/core/config'
import type {
  BlockMark,
  HubEntries,
  MinedTransaction,
  OnMalformed,
  RegisteredChain,
  SettlingChain,
  SettlingPass,
} from '@causeway/families'
import { refundChainId } from '@causeway/families/rules'
import type { ChainClient } from '@causeway/rpc'
import type { QuotableChain } from '../../../pricing/registry.ts'
import { type BlockSights, createBlockSights } from './depth.ts'

export type { PaymentReading } from '@causeway/families'

/** A pass that says of every chain which swaps were paid there. */
export type DepositPass = SettlingPass & Required<Pick<SettlingPass, 'paidSwaps'>>

/** One chain as settlement reads it. All readings are by quorum: money moves on every one of them. */
export interface SettlementChain extends SettlingChain {
  readonly chain: QuotableChain
  /** Accounts that pay for solvers there: the present fill wallet first, then the listed ones. */
  readonly payers: readonly string[]
  /** Its number in the ids of refunds. */
  readonly refundChainId: number | bigint
  /** Remembers when its blocks were first seen here. */
  readonly sights: BlockSights
  depositPass(...args: Parameters<SettlingChain['depositPass']>): Promise<DepositPass>
  /**
   * Accounts that brought the deposits of a transaction, beside the named depositors; empty if the family does not
   * tell. `undefined` while the transaction is in no block.
   */
  senders(hash: string, signal: AbortSignal): Promise<readonly string[] | undefined>
  /** `undefined` while it is in no block, and where users execute nothing that is told apart. */
  transaction(hash: string, signal: AbortSignal): Promise<MinedTransaction | undefined>
}

type SettlementChainOptions = {
  quotable: QuotableChain
  registered: RegisteredChain
  client: ChainClient
  /** Set on chains whose transfers name no order. */
  hubEntries?: HubEntries | undefined
  /** The solver's wallet on chains of contracts that name none of their own; undefined: its payments are not known. */
  fillWallet: string | undefined
  onMalformed: OnMalformed
  /** Told of the last block of each pass over deposits. */
  onBlock?: (block: BlockMark) => void
}

/** Opens the readers of a chain. @throws ConfigurationError when the chain has no depository or no endpoint */
export function createSettlementChain(options: SettlementChainOptions): SettlementChain {
  const { quotable, registered, client, hubEntries, onMalformed, onBlock = () => undefined } = options
  const { config, currencies } = quotable
  const address = fillWalletOf(options)
  const settling = openSettlingChain(registered, client, {
    quoted: { config, currencies: [...currencies.values()] },
    payer: address === undefined ? undefined : { address, fillContract: config.fillContract },
    ...{ hubEntries, recordsPayments, onMalformed },
  })
  return {
    ...{ senders: async () => [], transaction: async () => undefined, ...settling },
    ...{ chain: quotable, payers: payersOf(options, address), sights: createBlockSights() },
    refundChainId: refundChainId(registered, quotable.chainId),
    get steps() {
      return settling.steps
    },
    async depositPass(...args) {
      const pass = await settling.depositPass(...args)
      if (pass.last !== undefined) onBlock(pass.last)
      return { paidSwaps: [], ...pass }
    },
  }
}

/** A wallet of contracts is the same account on every chain that has them. */
function fillWalletOf({ quotable: { config }, fillWallet }: SettlementChainOptions): string | undefined {
  if (config.fillWallet !== undefined || fillWallet === undefined) return config.fillWallet
  return isContractChain(config) ? fillWallet : undefined
}

function payersOf(
  { registered: { fillPayers = [] } }: SettlementChainOptions,
  fillWallet: string | undefined,
): readonly string[] {
  return [...new Set([...(fillWallet === undefined ? [] : [fillWallet]), ...fillPayers])]
}
