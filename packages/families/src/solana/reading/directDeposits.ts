import { type DepositFact, type Hex, minBigint } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { ProgramAddresses } from '../rules/programAddresses.ts'
import { computeBudgetProgram, systemProgram, token2022Program, tokenProgram } from '../rules/programs.ts'
import { InstructionData } from './instructionData.ts'
import type { SeenInstruction, SolanaTransaction } from './transaction.ts'

/** A depository program and the addresses that it derives. */
export type DepositRules = { readonly depository: string; readonly addresses: ProgramAddresses }

const noOrder: Hex = `0x${'0'.repeat(64)}`
/**
 * First bytes of transfer instructions, in hex digits: System program (four bytes), token programs (one byte).
 * The amount follows in eight bytes.
 */
const systemTransfer = '02000000'
const tokenTransfer = '03'
const tokenTransferChecked = '0c'

type Transfer = { readonly depositor: string; readonly currency: string; readonly amount: bigint }

/**
 * A deposit without an order: a plain transfer into the vault, as the only instruction beside those of the compute
 * budget.
 * @source rule F-139
 */
export function findDirectDeposit(
  transaction: SolanaTransaction,
  rules: DepositRules,
): DepositFact | undefined {
  const [instruction, ...others] = transaction.instructions.filter(
    ({ program }) => program !== computeBudgetProgram,
  )
  if (instruction === undefined || others.length > 0) return undefined
  const transfer = readSolTransfer(instruction, rules) ?? readTokenTransfer(instruction, transaction, rules)
  if (transfer === undefined) return undefined
  return { onchainIndex: '0', depository: rules.depository, depositId: noOrder, ...transfer }
}

function readSolTransfer(
  { program, accounts, data: bytes }: SeenInstruction,
  { addresses }: DepositRules,
): Transfer | undefined {
  const data = new InstructionData(bytes)
  const [from, to] = accounts
  const isTransfer =
    program === systemProgram && data.byteLength >= 12 && data.digits(0, 4) === systemTransfer
  if (!isTransfer || from === undefined || to !== addresses.vault) return undefined
  return { depositor: from, currency: solanaCodec.nativeCurrency, amount: data.uint64(4) }
}

/** Token transfer in an instruction. For Token-2022 at most the vault's gain counts: such mints may withhold a fee. */
function readTokenTransfer(
  { program, accounts, data: bytes }: SeenInstruction,
  { tokenBalances }: SolanaTransaction,
  { addresses }: DepositRules,
): Transfer | undefined {
  const data = new InstructionData(bytes)
  if ((program !== tokenProgram && program !== token2022Program) || data.byteLength < 9) return undefined
  const parties = transferParties(data.digits(0, 1), accounts)
  if (parties === undefined) return undefined
  const { destination, depositor } = parties
  const balance = tokenBalances.find(({ account }) => account === destination)
  const mint = parties.mint ?? balance?.mint
  if (mint === undefined) return undefined
  if (destination !== addresses.vaultTokenAccount({ mint, tokenProgram: program })) return undefined
  const sent = data.uint64(1)
  if (program === tokenProgram) return { depositor, currency: mint, amount: sent }
  if (balance === undefined || balance.mint !== mint || balance.after < balance.before) return undefined
  return { depositor, currency: mint, amount: minBigint(sent, balance.after - balance.before) }
}

/** Accounts of a transfer by its kind. The unchecked kind names no mint: it is known from the destination's balance. */
function transferParties(
  kind: string,
  accounts: readonly string[],
): { destination: string; depositor: string; mint: string | undefined } | undefined {
  const [, second, third, fourth] = accounts
  if (kind === tokenTransfer && second !== undefined && third !== undefined) {
    return { destination: second, depositor: third, mint: undefined }
  }
  if (kind === tokenTransferChecked && second !== undefined && third !== undefined && fourth !== undefined) {
    return { destination: third, depositor: fourth, mint: second }
  }
  return undefined
}
