import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import type { TransactionInstruction } from '@solana/web3.js'
import { solanaLibrary } from '../library.ts'
import { associatedTokenAccount, type SolanaDepository, type SolanaToken } from '../programAddresses.ts'
import {
  associatedTokenProgram,
  computeBudgetProgram,
  depositNativeDiscriminator,
  depositTokenDiscriminator,
  systemProgram,
} from '../programs.ts'

/** Role of an account in an instruction. `pays`: it signs and is written; `signs`: it only signs. */
export type AccountRole = 'pays' | 'signs' | 'written' | 'read'

/** An instruction that is to be executed. Addresses stay text, because steps of a quote need no bytes of them. */
export type SolanaInstruction = {
  readonly program: string
  readonly accounts: readonly (readonly [address: string, role: AccountRole])[]
  readonly data: Buffer
}

export const isSigner = (role: AccountRole): boolean => role === 'pays' || role === 'signs'
export const isWritable = (role: AccountRole): boolean => role === 'pays' || role === 'written'

/** The instruction in web3.js's form, which compiles transactions. @throws Error for addresses that are no keys */
export function libraryInstruction({ program, accounts, data }: SolanaInstruction): TransactionInstruction {
  const { PublicKey, TransactionInstruction } = solanaLibrary()
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(([address, role]) => ({
      pubkey: new PublicKey(address),
      isSigner: isSigner(role),
      isWritable: isWritable(role),
    })),
    data,
  })
}

/** Numbers by which programs tell their instructions apart: first bytes of the data. */
const instructionNumbers = {
  setUnitLimit: 2,
  setUnitPrice: 3,
  createIdempotent: 1,
  transferCoin: 2,
  transferToken: 3,
} as const

/** Bid of a transaction: its unit limit, and micro-lamports per unit. */
export type UnitBid = { readonly units: bigint; readonly microLamportsPerUnit: bigint }

/** The two instructions that set unit limit and unit price. @source Solana documentation, "Compute budget" */
export function unitBid({ units, microLamportsPerUnit }: UnitBid): readonly SolanaInstruction[] {
  const limit = Buffer.alloc(5)
  limit.writeUInt8(instructionNumbers.setUnitLimit)
  limit.writeUInt32LE(Number(units), 1)
  const price = Buffer.alloc(9)
  price.writeUInt8(instructionNumbers.setUnitPrice)
  price.writeBigUInt64LE(microLamportsPerUnit, 1)
  return [limit, price].map((data) => ({ program: computeBudgetProgram, accounts: [], data }))
}

export type SolanaDeposit = {
  /** Signs, and pays. */
  readonly sender: string
  /** Account that the deposit is credited to; default the sender. */
  readonly depositor?: string
  /** Smallest units. */
  readonly amount: bigint
  readonly orderId: Hex
}

/**
 * Deposits SOL into the vault, for an order.
 * @source github.com/relayprotocol/relay-depository, relay-depository/src/lib.rs
 */
export function depositCoin(
  { program, addresses }: SolanaDepository,
  deposit: SolanaDeposit,
): SolanaInstruction {
  const { state, vault } = addresses
  const { sender, depositor = sender } = deposit
  return {
    program,
    data: depositData(depositNativeDiscriminator, deposit),
    accounts: [
      [state, 'read'],
      [sender, 'pays'],
      [depositor, 'read'],
      [vault, 'written'],
      [systemProgram, 'read'],
    ],
  }
}

/**
 * Deposits tokens of the sender's associated account into the vault's, for an order.
 * @source github.com/relayprotocol/relay-depository, relay-depository/src/lib.rs
 */
export function depositToken(
  { program, addresses }: SolanaDepository,
  token: SolanaToken,
  deposit: SolanaDeposit,
): SolanaInstruction {
  const { state, vault } = addresses
  const { sender, depositor = sender } = deposit
  return {
    program,
    data: depositData(depositTokenDiscriminator, deposit),
    accounts: [
      [state, 'read'],
      [sender, 'pays'],
      [depositor, 'read'],
      [vault, 'read'],
      [token.mint, 'read'],
      [associatedTokenAccount(sender, token), 'written'],
      [addresses.vaultTokenAccount(token), 'written'],
      [token.tokenProgram, 'read'],
      [associatedTokenProgram, 'read'],
      [systemProgram, 'read'],
    ],
  }
}

/**
 * Creates an owner's associated account of a mint at the payer's cost, if it does not exist. Fails if the account
 * belongs to somebody else by now, and, without a payer, if it does not exist.
 * @source SPL Associated Token Account, CreateIdempotent
 */
export function createTokenAccount(
  token: SolanaToken,
  { owner, payer }: { readonly owner: string; readonly payer: string | undefined },
): SolanaInstruction {
  return {
    program: associatedTokenProgram,
    data: Buffer.of(instructionNumbers.createIdempotent),
    accounts: [
      // Without a payer the owner is named as one: he does not sign, so creating the account fails.
      payer === undefined ? [owner, 'written'] : [payer, 'pays'],
      [associatedTokenAccount(owner, token), 'written'],
      [owner, 'read'],
      [token.mint, 'read'],
      [systemProgram, 'read'],
      [token.tokenProgram, 'read'],
    ],
  }
}

export type SolanaPayment = { readonly from: string; readonly to: string; readonly amount: bigint }

/** Sends SOL from one account to another. @source Solana documentation, System Program, Transfer */
export function sendCoin({ from, to, amount }: SolanaPayment): SolanaInstruction {
  const transfer = Buffer.alloc(4)
  transfer.writeUInt32LE(instructionNumbers.transferCoin)
  return {
    program: systemProgram,
    data: Buffer.concat([transfer, uint64(amount)]),
    accounts: [
      [from, 'pays'],
      [to, 'written'],
    ],
  }
}

/** Sends tokens between the associated accounts of two owners; the first signs. @source SPL Token, Transfer */
export function sendToken(token: SolanaToken, { from, to, amount }: SolanaPayment): SolanaInstruction {
  return {
    program: token.tokenProgram,
    data: Buffer.concat([Buffer.of(instructionNumbers.transferToken), uint64(amount)]),
    accounts: [
      [associatedTokenAccount(from, token), 'written'],
      [associatedTokenAccount(to, token), 'written'],
      [from, 'signs'],
    ],
  }
}

function depositData(discriminator: string, { amount, orderId }: SolanaDeposit): Buffer {
  return Buffer.concat([Buffer.from(discriminator, 'hex'), uint64(amount), hexToBytes(orderId)])
}

/** Eight bytes, little-endian. */
export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
