import { type DepositFact, type Hex, maxBigint } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { depositNativeDiscriminator, depositTokenDiscriminator, token2022Program } from '../rules/programs.ts'
import { type DepositRules, findDirectDeposit } from './directDeposits.ts'
import { InstructionData } from './instructionData.ts'
import type { SeenInstruction, SolanaTransaction } from './transaction.ts'

/** Layout of a deposit instruction: discriminator (8 bytes), amount (8), deposit id (32); positions of its accounts. */
const amountAt = 8
const idAt = 16
const depositBytes = 48
const depositorPosition = 2
const mintPosition = 4
const vaultAccountPosition = 6
const tokenProgramPosition = 7

/**
 * Deposits of a successful transaction: every deposit instruction of the depository, called directly or by
 * another program; without any, the one plain transfer into the vault.
 * @source rule F-139
 */
export function findDeposits(transaction: SolanaTransaction, rules: DepositRules): readonly DepositFact[] {
  const calledDeposits = transaction.instructions.flatMap((instruction, index) => {
    const deposit = readDeposit(instruction, rules.depository)
    return deposit === undefined ? [] : [{ index, ...deposit }]
  })
  if (calledDeposits.length === 0) {
    const direct = findDirectDeposit(transaction, rules)
    return direct === undefined ? [] : [direct]
  }
  return calledDeposits.map(({ index, holder, ...deposit }) => ({
    onchainIndex: index.toString(),
    depository: rules.depository,
    ...deposit,
    amount:
      holder === undefined
        ? deposit.amount
        : gainedShare(transaction, calledDeposits, { ...deposit, holder }),
  }))
}

/**
 * Part of the vault's gain that belongs to a deposit: mints of Token-2022 may withhold a fee from a transfer. Deposits
 * of one transaction into one account share its gain in proportion to their sent amounts, rounded down.
 */
function gainedShare(
  { tokenBalances }: SolanaTransaction,
  calledDeposits: readonly CalledDeposit[],
  { holder, currency, amount }: CalledDeposit & { readonly holder: string },
): bigint {
  const balance = tokenBalances.find(({ account, mint }) => account === holder && mint === currency)
  const gained = maxBigint(0n, balance === undefined ? 0n : balance.after - balance.before)
  const totalSent = calledDeposits.reduce(
    (sum, deposit) => (deposit.holder === holder ? sum + deposit.amount : sum),
    0n,
  )
  return gained >= totalSent ? amount : (amount * gained) / totalSent
}

/** A deposit instruction. `amount`: what was sent. */
type CalledDeposit = Pick<DepositFact, 'depositId' | 'depositor' | 'currency' | 'amount'> & {
  /** The vault's token account, for a token that may withhold a fee from a transfer; else undefined. */
  readonly holder: string | undefined
}

/** Deposit in an instruction. @source rule F-139 */
function readDeposit(
  { program, accounts, data: bytes }: SeenInstruction,
  depository: string,
): CalledDeposit | undefined {
  if (program !== depository) return undefined
  const data = new InstructionData(bytes)
  const discriminator = data.digits(0, 8)
  const isNative = discriminator === depositNativeDiscriminator
  if (!isNative && discriminator !== depositTokenDiscriminator) return undefined
  const depositor = accounts[depositorPosition]
  const currency = isNative ? solanaCodec.nativeCurrency : accounts[mintPosition]
  // The program fails without them, so a successful transaction has them.
  if (data.byteLength < depositBytes || depositor === undefined || currency === undefined) return undefined
  const depositId: Hex = `0x${data.digits(idAt, 32)}`
  const mayKeepFee = !isNative && accounts[tokenProgramPosition] === token2022Program
  const holder = mayKeepFee ? accounts[vaultAccountPosition] : undefined
  return { depositId, depositor, currency, amount: data.uint64(amountAt), holder }
}
