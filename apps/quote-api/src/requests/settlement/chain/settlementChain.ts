import { openSettlingChain } from '@causeway/chains'
import { recordsPayments } from '@causeway/contracts/codes'
import { isContractChain } from '@causeway/core/config'
import type {
  BlockRef,
  HubEntries,
  MinedTransaction,
  OnMalformed,
  RegisteredChain,
  SettlingChain,
  SettlingPass,
} from '@causeway/families'
import { refundChainId } from '@causeway/families/rules'
import type { ChainClient } from '@causeway/rpc'
import { createSeenHead, type SeenHead } from '../../../chainReadings/seenHead.ts'
import type { QuotableChain } from '../../../pricing/registry.ts'
import { type BlockSights, createBlockSights } from './depth.ts'

export type { PaymentReading } from '@causeway/families'

/** A pass over blocks, whose list of paid swaps is empty on chains without a swap router. */
export type DepositPass = SettlingPass & Required<Pick<SettlingPass, 'paidSwaps'>>

/** The readings of one chain that settlement needs, all agreed on by a quorum, because money moves by them. */
export interface SettlementChain extends SettlingChain {
  readonly chain: QuotableChain
  /** Accounts whose payments count as the solver's: the present fill wallet first, then other configured ones. */
  readonly payers: readonly string[]
  /** Number of this chain in the ids of refunds. */
  readonly refundChainId: number | bigint
  /** Remembers when this process first saw blocks. */
  readonly sights: BlockSights
  /** The head as any reader of this process saw it last. */
  readonly seenHead: SeenHead
  depositPass(...args: Parameters<SettlingChain['depositPass']>): Promise<DepositPass>
  newestPass?(...args: Parameters<NewestPassOf>): Promise<{ head: bigint; pass: DepositPass | undefined }>
  /**
   * Accounts that sent the deposits of a transaction, beside the named depositors; empty in families that show none.
   * `undefined` while the transaction is in no block.
   */
  senders(hash: string, signal: AbortSignal): Promise<readonly string[] | undefined>
  /** Any transaction; `undefined` while it is in no block, and in families that cannot read one. */
  transaction(hash: string, signal: AbortSignal): Promise<MinedTransaction | undefined>
}

type NewestPassOf = Required<SettlingChain>['newestPass']

type SettlementChainOptions = {
  quotable: QuotableChain
  registered: RegisteredChain
  client: ChainClient
  /** Hub entries that map transfers to orders; set on chains whose transfers name no order. */
  hubEntries?: HubEntries | undefined
  /** Fill wallet on chains with contracts that configure none of their own; undefined: payments cannot be recognized. */
  fillWallet: string | undefined
  onMalformed: OnMalformed
  /** Told of the last block of each pass over deposits. */
  onBlock?: (block: BlockRef) => void
}

/** Opens the readers of a chain. @throws ConfigurationError when the chain has no depository or no endpoint */
export function createSettlementChain(options: SettlementChainOptions): SettlementChain {
  const { quotable, registered, client, hubEntries, onMalformed, onBlock = () => undefined } = options
  const { config, currencies } = quotable
  const address = fillWalletOf(options)
  const settling = openSettlingChain(registered, client, {
    quoted: { config, currencies: [...currencies.values()] },
    payer: address === undefined ? undefined : { address, fillContract: config.fillContract },
    hubEntries,
    recordsPayments,
    onMalformed,
  })
  const seenHead = createSeenHead()
  const { newestPass, ...read } = settling
  const seenPass = (pass: SettlingPass): DepositPass => {
    if (pass.last !== undefined) onBlock(pass.last)
    return { paidSwaps: [], ...pass }
  }
  return {
    // Defaults for what a family may leave out.
    senders: async () => [],
    transaction: async () => undefined,
    ...read,
    chain: quotable,
    payers: payersOf(options, address),
    sights: createBlockSights(),
    seenHead,
    refundChainId: refundChainId(registered, quotable.chainId),
    // A getter, because the spread above copies the present value.
    get steps() {
      return settling.steps
    },
    async head(signal) {
      const head = await settling.head(signal)
      seenHead.note(head)
      return head
    },
    depositPass: async (...args) => seenPass(await settling.depositPass(...args)),
    ...(newestPass !== undefined && {
      async newestPass(...args: Parameters<NewestPassOf>) {
        const { head, pass } = await newestPass(...args)
        seenHead.note(head)
        return { head, pass: pass && seenPass(pass) }
      },
    }),
  }
}

/** The fill wallet on a chain. One EVM account serves all chains with contracts that configure none. */
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
