import { minBigint } from '@causeway/core'
import type { Keypair, VersionedTransaction } from '@solana/web3.js'
import type { PayingFees, PaymentTerms } from '../../shared/payingChain.ts'
import type { SolanaAddressProgram } from '../rules/depositAddress.ts'
import { solanaLibrary } from '../rules/library.ts'
import { sweepAddress, withdrawAddress } from '../rules/paying/addressInstructions.ts'
import { markedInstructions } from '../rules/paying/paymentInstructions.ts'
import { markBytes } from '../rules/programs.ts'
import type { SolanaInstruction } from '../rules/quoting/instructions.ts'
import { lamportsPerSignature, SolanaFees } from '../rules/quoting/solanaFees.ts'
import { transactionBytesMax } from '../rules/quoting/transactionSize.ts'

/** Key that signs, and the program that empties addresses, if there is one. */
export type Wallet = { readonly keypair: Keypair; readonly addressProgram: SolanaAddressProgram | undefined }

/** The unsigned transaction of the terms; undefined if it is too large for one. */
export function compilePayment(
  { keypair: { publicKey }, addressProgram }: Wallet,
  terms: PaymentTerms,
  bid: PayingFees & { readonly units: bigint },
  blockhash: string,
): VersionedTransaction | undefined {
  const { TransactionMessage, VersionedTransaction: Transaction } = solanaLibrary()
  const mark = markOf(terms)
  const wallet = publicKey.toBase58()
  const marked = { ...terms, mark, emptying: emptyingOf(terms, wallet, addressProgram) }
  const instructions = markedInstructions(wallet, marked, {
    units: bid.units,
    microLamportsPerUnit: unitPrice(bid),
    markerRentLamports: bid.fees.rentOf({ stateBytes: markBytes[mark] }),
  })
  try {
    const transaction = new Transaction(
      new TransactionMessage({
        payerKey: publicKey,
        recentBlockhash: blockhash,
        instructions: [...instructions],
      }).compileToV0Message(),
    )
    return transaction.serialize().length > transactionBytesMax ? undefined : transaction
  } catch (error) {
    // The library writes into a buffer of the largest size that a transaction may have.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The marker's kind. @throws Error for an allowance, which no token of this family needs */
export function markOf({ mark }: Pick<PaymentTerms, 'mark'>): keyof typeof markBytes {
  if (mark === 'allowed') throw new Error('nothing is allowed on this chain')
  return mark
}

/** The instruction that empties a deposit address: a sweep for an order, or a withdrawal to the depositor. */
function emptyingOf(
  { emptied }: Pick<PaymentTerms, 'emptied'>,
  caller: string,
  program: SolanaAddressProgram | undefined,
): SolanaInstruction | undefined {
  if (emptied === undefined) return undefined
  if (program === undefined) throw new Error('no address of this chain is emptied')
  const { currency, token: knownToken, signed } = emptied
  const token = knownToken && { mint: currency, tokenProgram: knownToken.program }
  return signed === undefined
    ? withdrawAddress(program, emptied, { caller, token })
    : sweepAddress(program, emptied, { ...signed, token })
}

/** Bid per unit in micro-lamports: market price or ceiling. @throws Error for fees of another family */
function unitPrice({ fees, ceiling }: PayingFees): bigint {
  if (!(fees instanceof SolanaFees)) throw new Error('fees of another family')
  return minBigint(fees.microLamportsPerUnit, ceiling)
}

const microLamports = 1_000_000n

/**
 * Fee in lamports, rounded up, of a transaction that only the wallet signs.
 * @source Solana documentation, "Transaction fees"
 */
export const feeOf = (units: bigint, bid: PayingFees): bigint =>
  lamportsPerSignature + (units * unitPrice(bid) + microLamports - 1n) / microLamports
