import { type Hex, hexToBytes } from '@causeway/core'
import {
  associatedTokenAccount,
  associatedTokenProgram,
  createTokenAccount as createSolanaTokenAccount,
  depositCoin,
  depositToken as depositSolanaToken,
  encodeSolanaWithdrawal,
  executeTransferDiscriminator,
  libraryInstruction,
  memoProgram,
  type ProgramAddresses,
  type SolanaDeposit,
  type SolanaWithdrawal,
  tokenProgram,
} from '@causeway/families/rules'
import { PublicKey, SYSVAR_INSTRUCTIONS_PUBKEY, SystemProgram, TransactionInstruction } from '@solana/web3.js'

/** A depository program and the addresses that follow from its id. */
export type Depository = { readonly program: PublicKey; readonly addresses: ProgramAddresses }

const uint64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
/** Use of an account by an instruction; one that pays also signs and is written. */
type Role = 'signs' | 'pays' | 'written' | 'read'
const account = (pubkey: PublicKey, role: Role) => ({
  pubkey,
  isSigner: role === 'signs' || role === 'pays',
  isWritable: role === 'pays' || role === 'written',
})

/** A deposit as tests make it; `id` is the order's, `amount` in smallest units. */
export type DepositArguments = {
  readonly sender: PublicKey
  /** Default: the sender. */
  readonly depositor?: PublicKey
  readonly amount: bigint
  readonly id: Hex
  /** Bytes appended to the instruction's data. */
  readonly tail?: Uint8Array
}

const solanaDeposit = ({ sender, depositor, amount, id }: DepositArguments): SolanaDeposit => ({
  sender: sender.toBase58(),
  amount,
  orderId: id,
  ...(depositor !== undefined && { depositor: depositor.toBase58() }),
})

const withTail = (instruction: TransactionInstruction, tail: Uint8Array = new Uint8Array()) => {
  instruction.data = Buffer.concat([instruction.data, tail])
  return instruction
}

export function depositNative(depository: Depository, deposit: DepositArguments): TransactionInstruction {
  return withTail(libraryInstruction(depositCoin(toText(depository), solanaDeposit(deposit))), deposit.tail)
}

export function depositToken(
  depository: Depository,
  deposit: DepositArguments & { readonly mint: PublicKey; readonly program?: string },
): TransactionInstruction {
  const token = { mint: deposit.mint.toBase58(), tokenProgram: deposit.program ?? tokenProgram }
  return withTail(
    libraryInstruction(depositSolanaToken(toText(depository), token, solanaDeposit(deposit))),
    deposit.tail,
  )
}

/** A depository with its program as text, as the library of the families takes it. */
const toText = ({ program, addresses }: Depository) => ({ program: program.toBase58(), addresses })

/** The depository's `execute_transfer`. Without a token in the request SOL is paid, and the program fills its places. */
export function executeTransfer(
  depository: Depository,
  args: { readonly executor: PublicKey; readonly request: SolanaWithdrawal; readonly withdrawalId: Hex },
): TransactionInstruction {
  const { executor, request, withdrawalId } = args
  const { program, addresses } = depository
  const recipient = new PublicKey(request.recipient)
  const vault = new PublicKey(addresses.vault)
  const mint = request.token === undefined ? undefined : new PublicKey(request.token)
  const holder = (owner: PublicKey) => (mint === undefined ? program : tokenAccount(owner, mint))
  const role = mint === undefined ? 'read' : 'written'
  return new TransactionInstruction({
    programId: program,
    keys: [
      account(new PublicKey(addresses.state), 'read'),
      account(executor, 'pays'),
      account(recipient, 'written'),
      account(vault, 'written'),
      account(mint ?? program, 'read'),
      account(holder(recipient), role),
      account(holder(vault), role),
      account(new PublicKey(addresses.usedRequest(withdrawalId)), 'written'),
      account(SYSVAR_INSTRUCTIONS_PUBKEY, 'read'),
      account(new PublicKey(tokenProgram), 'read'),
      account(new PublicKey(associatedTokenProgram), 'read'),
      account(SystemProgram.programId, 'read'),
    ],
    data: Buffer.concat([
      Buffer.from(executeTransferDiscriminator, 'hex'),
      hexToBytes(encodeSolanaWithdrawal(request)),
    ]),
  })
}

/** An instruction of the forwarder program, which makes the inner call. */
export function forwardInstruction(
  forwarder: PublicKey,
  inner: TransactionInstruction,
): TransactionInstruction {
  return new TransactionInstruction({
    programId: forwarder,
    keys: [account(inner.programId, 'read'), ...inner.keys],
    data: inner.data,
  })
}

export function memo(text: string, program: string = memoProgram): TransactionInstruction {
  return new TransactionInstruction({ programId: new PublicKey(program), keys: [], data: Buffer.from(text) })
}

export function tokenAccount(owner: PublicKey, mint: PublicKey, program: string = tokenProgram): PublicKey {
  const token = { mint: mint.toBase58(), tokenProgram: program }
  return new PublicKey(associatedTokenAccount(owner.toBase58(), token))
}

/** The system program's transfer. @param args.amount lamports */
export function transferNative(args: {
  readonly from: PublicKey
  readonly to: string
  readonly amount: bigint
}): TransactionInstruction {
  const { from: fromPubkey, to, amount: lamports } = args
  return SystemProgram.transfer({ fromPubkey, toPubkey: new PublicKey(to), lamports })
}

/** `from` and `to` are token accounts. */
type TokenTransfer = {
  readonly from: PublicKey
  readonly to: PublicKey
  readonly authority: PublicKey
  readonly mint: PublicKey
  readonly amount: bigint
  readonly program?: string
}
const mintDecimals = 6

/** A token program's `Transfer`, instruction 3. */
export function transfer(args: TokenTransfer): TransactionInstruction {
  const { from, to, authority, amount, program = tokenProgram } = args
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: [account(from, 'written'), account(to, 'written'), account(authority, 'signs')],
    data: Buffer.concat([Buffer.of(3), uint64(amount)]),
  })
}

/** A token program's `TransferChecked`, instruction 12. */
export function transferChecked(args: TokenTransfer): TransactionInstruction {
  const { from, to, authority, mint, amount, program = tokenProgram } = args
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: [
      account(from, 'written'),
      account(mint, 'read'),
      account(to, 'written'),
      account(authority, 'signs'),
    ],
    data: Buffer.concat([Buffer.of(12), uint64(amount), Buffer.of(mintDecimals)]),
  })
}

/** Creates an owner's associated token account. */
export function createTokenAccount(args: {
  readonly payer: PublicKey
  readonly owner: PublicKey
  readonly mint: PublicKey
  readonly program?: string
}): TransactionInstruction {
  const { payer, owner, mint, program = tokenProgram } = args
  const token = { mint: mint.toBase58(), tokenProgram: program }
  const parties = { owner: owner.toBase58(), payer: payer.toBase58() }
  return libraryInstruction(createSolanaTokenAccount(token, parties))
}

/** A token program's `MintTo`, instruction 7. */
export function mintTo(args: {
  readonly mint: PublicKey
  readonly to: PublicKey
  readonly authority: PublicKey
  readonly amount: bigint
  readonly program?: string
}): TransactionInstruction {
  const { mint, to, authority, amount, program = tokenProgram } = args
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: [account(mint, 'written'), account(to, 'written'), account(authority, 'signs')],
    data: Buffer.concat([Buffer.of(7), uint64(amount)]),
  })
}

/** Makes an account a mint, by instruction 20; with `feeBps`, before it by 26, a mint of Token-2022 with a transfer fee. */
export function initialiseMint(args: {
  readonly mint: PublicKey
  readonly authority: PublicKey
  readonly program?: string
  /** Default: 6. */
  readonly decimals?: number
  readonly feeBps?: number
}): readonly TransactionInstruction[] {
  const { mint, authority, program = tokenProgram, decimals = mintDecimals, feeBps } = args
  const instruction = (data: Buffer) =>
    new TransactionInstruction({ programId: new PublicKey(program), keys: [account(mint, 'written')], data })
  // The byte by which an instruction leaves out an authority: first that to freeze, then those of the fee.
  const nobody = Buffer.of(0)
  const initialisation = instruction(Buffer.concat([Buffer.of(20, decimals), authority.toBytes(), nobody]))
  if (feeBps === undefined) return [initialisation]
  const fee = Buffer.alloc(2)
  fee.writeUInt16LE(feeBps)
  // The last number is the most that one transfer pays: so much that it never limits.
  const feeData = Buffer.concat([Buffer.of(26, 0), nobody, nobody, fee, uint64(2n ** 63n)])
  return [instruction(feeData), initialisation]
}

/** Bytes of a mint account, with room for its transfer fee where it has one. */
export const mintBytes = { plain: 82, withFee: 278 } as const
