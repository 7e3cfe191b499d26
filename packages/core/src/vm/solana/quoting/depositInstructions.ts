import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { hexToBytes } from '../../../hashing/hexBytes.ts'
import type { Hex } from '../../../hex.ts'
import { solanaLibrary } from '../library.ts'
import {
  associatedTokenProgram,
  depositNativeDiscriminator,
  depositTokenDiscriminator,
  systemProgram,
} from '../programs.ts'

export type SolanaDeposit = {
  /** Signs, and is credited. */
  readonly sender: string
  /** Smallest units. */
  readonly amount: bigint
  readonly orderId: Hex
}

export type SolanaToken = { readonly mint: string; readonly tokenProgram: string }

/** What the depository program derives from its address. @source families.md 3 */
export function depositoryAccounts(depository: string): {
  readonly state: PublicKey
  readonly vault: PublicKey
} {
  const { PublicKey } = solanaLibrary()
  const program = new PublicKey(depository)
  const derived = (seed: string) => PublicKey.findProgramAddressSync([Buffer.from(seed)], program)[0]
  return { state: derived('relay_depository'), vault: derived('vault') }
}

/** Where an owner holds a mint, by the mint's program. @source SPL Associated Token Account */
export function associatedTokenAccount(owner: PublicKey, { mint, tokenProgram }: SolanaToken): PublicKey {
  const { PublicKey } = solanaLibrary()
  const seeds = [owner.toBytes(), new PublicKey(tokenProgram).toBytes(), new PublicKey(mint).toBytes()]
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(associatedTokenProgram))[0]
}

/** SOL into the vault, for an order. @source families.md 3 */
export function depositCoin(depository: string, deposit: SolanaDeposit): TransactionInstruction {
  const { PublicKey } = solanaLibrary()
  const { state, vault } = depositoryAccounts(depository)
  const sender = new PublicKey(deposit.sender)
  return instruction(depository, depositData(depositNativeDiscriminator, deposit), [
    [state, 'read'],
    [sender, 'pays'],
    [sender, 'read'],
    [vault, 'written'],
    [new PublicKey(systemProgram), 'read'],
  ])
}

/** Tokens of the sender's own account into the vault's, for an order. @source families.md 3 */
export function depositToken(
  depository: string,
  token: SolanaToken,
  deposit: SolanaDeposit,
): TransactionInstruction {
  const { PublicKey } = solanaLibrary()
  const { state, vault } = depositoryAccounts(depository)
  const sender = new PublicKey(deposit.sender)
  return instruction(depository, depositData(depositTokenDiscriminator, deposit), [
    [state, 'read'],
    [sender, 'pays'],
    [sender, 'read'],
    [vault, 'read'],
    [new PublicKey(token.mint), 'read'],
    [associatedTokenAccount(sender, token), 'written'],
    [associatedTokenAccount(vault, token), 'written'],
    [new PublicKey(token.tokenProgram), 'read'],
    [new PublicKey(associatedTokenProgram), 'read'],
    [new PublicKey(systemProgram), 'read'],
  ])
}

/** An owner's account of a mint, paid by somebody else; nothing where it is there. */
export function createTokenAccount(
  token: SolanaToken,
  { owner, payer }: { readonly owner: PublicKey; readonly payer: string },
): TransactionInstruction {
  const { PublicKey } = solanaLibrary()
  const createIdempotent = Buffer.of(1)
  return instruction(associatedTokenProgram, createIdempotent, [
    [new PublicKey(payer), 'pays'],
    [associatedTokenAccount(owner, token), 'written'],
    [owner, 'read'],
    [new PublicKey(token.mint), 'read'],
    [new PublicKey(systemProgram), 'read'],
    [new PublicKey(token.tokenProgram), 'read'],
  ])
}

function depositData(discriminator: string, { amount, orderId }: SolanaDeposit): Buffer {
  const uint64 = Buffer.alloc(8)
  uint64.writeBigUInt64LE(amount)
  return Buffer.concat([Buffer.from(discriminator, 'hex'), uint64, hexToBytes(orderId)])
}

type Role = 'pays' | 'written' | 'read'

function instruction(
  program: string,
  data: Buffer,
  accounts: readonly (readonly [PublicKey, Role])[],
): TransactionInstruction {
  const { PublicKey, TransactionInstruction } = solanaLibrary()
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(([pubkey, role]) => ({
      pubkey,
      isSigner: role === 'pays',
      isWritable: role !== 'read',
    })),
    data,
  })
}
