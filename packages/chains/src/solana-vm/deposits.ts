import { type DepositFact, type Hex, solanaCodec } from '@causeway/core'
import { findDirectDeposit } from './directDeposits.ts'
import { InstructionData } from './instructionData.ts'
import type { ProgramAddresses } from './programAddresses.ts'
import { depositNativeDiscriminator, depositTokenDiscriminator } from './programs.ts'
import type { SolanaInstruction, SolanaTransaction } from './transaction.ts'

export type DepositRules = { readonly depository: string; readonly addresses: ProgramAddresses }

const amountAt = 8
const idAt = 16
const depositBytes = 48
const depositorPosition = 2
const mintPosition = 4

/**
 * Deposits of a successful transaction: every deposit instruction of the depository, called directly or by
 * another program; without any, the one plain transfer into the vault.
 * @source oracle-protocol.md 1.3, 5.2
 */
export function findDeposits(transaction: SolanaTransaction, rules: DepositRules): readonly DepositFact[] {
  const called = transaction.instructions.flatMap((instruction, index) => {
    const deposit = readDeposit(instruction, rules.depository)
    return deposit === undefined
      ? []
      : [{ onchainIndex: index.toString(), depository: rules.depository, ...deposit }]
  })
  if (called.length > 0) return called
  const direct = findDirectDeposit(transaction, rules)
  return direct === undefined ? [] : [direct]
}

type CalledDeposit = Pick<DepositFact, 'depositId' | 'depositor' | 'currency' | 'amount'>

/** The amount is what the instruction says, also where a token keeps a fee. @source oracle-protocol.md 5.2 */
function readDeposit(
  { program, accounts, data: bytes }: SolanaInstruction,
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
  return { depositId, depositor, currency, amount: data.uint64(amountAt) }
}
