import { type DepositFact, type Hex, minBigint } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { ProgramAddresses } from '../rules/programAddresses.ts'
import { computeBudgetProgram, systemProgram, token2022Program, tokenProgram } from '../rules/programs.ts'
import { InstructionData } from './instructionData.ts'
import type { SolanaInstruction, SolanaTransaction } from './transaction.ts'

export type DepositRules = { readonly depository: string; readonly addresses: ProgramAddresses }

const noOrder: Hex = `0x${'0'.repeat(64)}`
/** Transfer instruction of the System program, as four bytes. */
const systemTransfer = '02000000'
const tokenTransfer = '03'
const tokenTransferChecked = '0c'

type Transfer = { readonly depositor: string; readonly currency: string; readonly amount: bigint }

/**
 * The plain transfer into the vault that is all a transaction does, compute budget aside. It names no order.
 * @source rule F-139
 */
export function findDirectDeposit(
  transaction: SolanaTransaction,
  rules: DepositRules,
): DepositFact | undefined {
  const [only, ...others] = transaction.instructions.filter(({ program }) => program !== computeBudgetProgram)
  if (only === undefined || others.length > 0) return undefined
  const transfer = readSolTransfer(only, rules) ?? readTokenTransfer(only, transaction, rules)
  if (transfer === undefined) return undefined
  return { onchainIndex: '0', depository: rules.depository, depositId: noOrder, ...transfer }
}

function readSolTransfer(
  { program, accounts, data: bytes }: SolanaInstruction,
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
  { program, accounts, data: bytes }: SolanaInstruction,
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

/** A transfer without a check names no mint: its destination's balance does. */
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
