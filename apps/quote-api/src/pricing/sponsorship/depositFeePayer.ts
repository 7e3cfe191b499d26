import type { VmCodec, VmType } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { QuoteError } from '../errors.ts'

/** A chain as far as a fee payer depends on it. */
export type FeePayerChain = { readonly chainId: number; readonly vmType: VmType; readonly codec: VmCodec }

const servedFamilyNames = Object.values(families)
  .filter(({ takesDepositFeePayer }) => takesDepositFeePayer)
  .map(({ name }) => name)
  .join(' and ')

export type FeePayer = {
  /** Pays the deposit's transaction fee and origin rent, from its own coin and not from the sponsor's balance. */
  readonly account: string
  /**
   * True where origin and destination are one chain: there the payer pays the rent of accounts that the user
   * may close, and a closed account's rent goes to the user. Worth a warning in the log.
   */
  readonly isExploitable: boolean
}

/**
 * Checks the account that is to pay the network for the deposit, in families where it need not be the sender.
 * @throws QuoteError INVALID_ADDRESS for the user, a malformed account, or an origin of another family
 * @source rules Q-quote-req-12, Q-solana-01, Q-solana-03
 */
export function depositFeePayer(args: {
  readonly account: string
  readonly user: string
  readonly origin: FeePayerChain
  readonly destinationChainId: number
}): FeePayer {
  const { account, user, origin, destinationChainId } = args
  if (account === user) throw refusedFeePayer('it must differ from user')
  const { takesDepositFeePayer, name } = families[origin.vmType]
  if (!takesDepositFeePayer) throw refusedFeePayer(`it serves ${servedFamilyNames} origins only`)
  if (!origin.codec.isAddress(account)) throw refusedFeePayer(`it is not a ${name} account`)
  return { account, isExploitable: origin.chainId === destinationChainId }
}

/** The error for a payer that is not accepted; `reason` completes its message. */
export function refusedFeePayer(reason: string): QuoteError {
  return new QuoteError('INVALID_ADDRESS', `depositFeePayer is not allowed: ${reason}.`, {
    data: { field: 'depositFeePayer' },
  })
}
