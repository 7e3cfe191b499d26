import type { VmCodec, VmType } from '@causeway/core'
import { QuoteError } from '../errors.ts'

/** A chain as far as a fee payer depends on it. */
export type FeePayerChain = { readonly chainId: number; readonly vmType: VmType; readonly codec: VmCodec }

export type FeePayer = {
  /** Pays the deposit's transaction fee and origin rent; nothing of it touches a balance. */
  readonly account: string
  /** On one chain a user can turn the payer's rent into their own: worth a warning. */
  readonly isExploitable: boolean
}

/**
 * The account that pays the deposit on Solana.
 * @throws QuoteError INVALID_ADDRESS for the user, a malformed account, or another origin than Solana
 * @source quote-and-sponsorship.md, Solana rules; quote-api.md 7, rows 29 to 33
 */
export function depositFeePayer(args: {
  readonly account: string
  readonly user: string
  readonly origin: FeePayerChain
  readonly destinationChainId: number
}): FeePayer {
  const { account, user, origin, destinationChainId } = args
  if (account === user) throw refused('it must differ from user')
  if (origin.vmType !== 'solana-vm') throw refused('it serves Solana origins only')
  if (!origin.codec.isAddress(account)) throw refused('it is not a Solana account')
  return { account, isExploitable: origin.chainId === destinationChainId }
}

function refused(reason: string): QuoteError {
  return new QuoteError('INVALID_ADDRESS', `depositFeePayer is not allowed: ${reason}.`, {
    data: { field: 'depositFeePayer' },
  })
}
