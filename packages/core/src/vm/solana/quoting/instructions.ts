import type { TransactionInstruction } from '@solana/web3.js'
import { hexToBytes } from '../../../hashing/hexBytes.ts'
import type { Hex } from '../../../hex.ts'
import { solanaLibrary } from '../library.ts'
import { associatedTokenAccount, type SolanaDepository, type SolanaToken } from '../programAddresses.ts'
import {
  associatedTokenProgram,
  depositNativeDiscriminator,
  depositTokenDiscriminator,
  systemProgram,
} from '../programs.ts'

export type SolanaDeposit = {
  /** Signs, and pays. */
  readonly sender: string
  /** Whom the deposit is credited to; default the sender. */
  readonly depositor?: string
  /** Smallest units. */
  readonly amount: bigint
  readonly orderId: Hex
}

/** SOL into the vault, for an order. @source families.md 3 */
export function depositCoin(
  { program, addresses }: SolanaDepository,
  deposit: SolanaDeposit,
): TransactionInstruction {
  const { state, vault } = addresses
  const { sender, depositor = sender } = deposit
  return solanaInstruction(program, depositData(depositNativeDiscriminator, deposit), [
    [state, 'read'],
    [sender, 'pays'],
    [depositor, 'read'],
    [vault, 'written'],
    [systemProgram, 'read'],
  ])
}

/** Tokens of the sender's own account into the vault's, for an order. @source families.md 3 */
export function depositToken(
  { program, addresses }: SolanaDepository,
  token: SolanaToken,
  deposit: SolanaDeposit,
): TransactionInstruction {
  const { state, vault } = addresses
  const { sender, depositor = sender } = deposit
  return solanaInstruction(program, depositData(depositTokenDiscriminator, deposit), [
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
  ])
}

/** An owner's account of a mint, paid by somebody else; nothing where it is there. */
export function createTokenAccount(
  token: SolanaToken,
  { owner, payer }: { readonly owner: string; readonly payer: string },
): TransactionInstruction {
  const createIdempotent = Buffer.of(1)
  return solanaInstruction(associatedTokenProgram, createIdempotent, [
    [payer, 'pays'],
    [associatedTokenAccount(owner, token), 'written'],
    [owner, 'read'],
    [token.mint, 'read'],
    [systemProgram, 'read'],
    [token.tokenProgram, 'read'],
  ])
}

export type SolanaPayment = { readonly from: string; readonly to: string; readonly amount: bigint }

/** SOL from one account to another. @source Solana documentation, System Program, Transfer */
export function sendCoin({ from, to, amount }: SolanaPayment): TransactionInstruction {
  const transfer = Buffer.alloc(4)
  transfer.writeUInt32LE(2)
  return solanaInstruction(systemProgram, Buffer.concat([transfer, uint64(amount)]), [
    [from, 'pays'],
    [to, 'written'],
  ])
}

/** Tokens between the own accounts of two owners, of whom the first signs. @source SPL Token, Transfer */
export function sendToken(token: SolanaToken, { from, to, amount }: SolanaPayment): TransactionInstruction {
  return solanaInstruction(token.tokenProgram, Buffer.concat([Buffer.of(3), uint64(amount)]), [
    [associatedTokenAccount(from, token), 'written'],
    [associatedTokenAccount(to, token), 'written'],
    [from, 'signs'],
  ])
}

function depositData(discriminator: string, { amount, orderId }: SolanaDeposit): Buffer {
  return Buffer.concat([Buffer.from(discriminator, 'hex'), uint64(amount), hexToBytes(orderId)])
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** What an instruction does with an account; who pays signs, and is written. */
export type AccountRole = 'pays' | 'signs' | 'written' | 'read'

export function solanaInstruction(
  program: string,
  data: Buffer,
  accounts: readonly (readonly [address: string, role: AccountRole])[],
): TransactionInstruction {
  const { PublicKey, TransactionInstruction } = solanaLibrary()
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(([address, role]) => ({
      pubkey: new PublicKey(address),
      isSigner: role === 'pays' || role === 'signs',
      isWritable: role === 'pays' || role === 'written',
    })),
    data,
  })
}
