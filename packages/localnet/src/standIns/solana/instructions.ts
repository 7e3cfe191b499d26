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

/** A depository program and what it derives. */
export type Depository = { readonly program: PublicKey; readonly addresses: ProgramAddresses }

const uint64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
type Role = 'signs' | 'pays' | 'written' | 'read'
const account = (pubkey: PublicKey, role: Role) => ({
  pubkey,
  isSigner: role === 'signs' || role === 'pays',
  isWritable: role === 'pays' || role === 'written',
})

export type DepositArguments = {
  readonly sender: PublicKey
  /** Default: the sender. */
  readonly depositor?: PublicKey
  readonly amount: bigint
  readonly id: Hex
  /** Behind the arguments. */
  readonly tail?: Uint8Array
}

const solanaDeposit = ({ sender, depositor, amount, id }: DepositArguments): SolanaDeposit => ({
  ...{ sender: sender.toBase58(), amount, orderId: id },
  ...(depositor !== undefined && { depositor: depositor.toBase58() }),
})

const withTail = (instruction: TransactionInstruction, tail: Uint8Array = new Uint8Array()) => {
  instruction.data = Buffer.concat([instruction.data, tail])
  return instruction
}

export function depositNative(depository: Depository, deposit: DepositArguments): TransactionInstruction {
  return withTail(libraryInstruction(depositCoin(plain(depository), solanaDeposit(deposit))), deposit.tail)
}

export function depositToken(
  depository: Depository,
  deposit: DepositArguments & { readonly mint: PublicKey; readonly program?: string },
): TransactionInstruction {
  const token = { mint: deposit.mint.toBase58(), tokenProgram: deposit.program ?? tokenProgram }
  return withTail(
    libraryInstruction(depositSolanaToken(plain(depository), token, solanaDeposit(deposit))),
    deposit.tail,
  )
}

const plain = ({ program, addresses }: Depository) => ({ program: program.toBase58(), addresses })

/** Without `mint` in the request SOL is paid. */
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

/** Wraps a call so that another program makes it. */
export function forwarded(forwarder: PublicKey, inner: TransactionInstruction): TransactionInstruction {
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

/** @param args.amount lamports */
export function transferNative(args: {
  readonly from: PublicKey
  readonly to: string
  readonly amount: bigint
}): TransactionInstruction {
  const { from: fromPubkey, to, amount: lamports } = args
  return SystemProgram.transfer({ fromPubkey, toPubkey: new PublicKey(to), lamports })
}

type TokenTransfer = {
  readonly from: PublicKey
  readonly to: PublicKey
  readonly authority: PublicKey
  readonly mint: PublicKey
  readonly amount: bigint
  readonly program?: string
}
const mintDecimals = 6

export function transfer(args: TokenTransfer): TransactionInstruction {
  const { from, to, authority, amount, program = tokenProgram } = args
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: [account(from, 'written'), account(to, 'written'), account(authority, 'signs')],
    data: Buffer.concat([Buffer.of(3), uint64(amount)]),
  })
}

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

/** Makes an account a mint; with `feeBps`, one of Token-2022 that keeps a part of each transfer. */
export function initialiseMint(args: {
  readonly mint: PublicKey
  readonly authority: PublicKey
  readonly program?: string
  /** Default: 6. */
  readonly decimals?: number
  readonly feeBps?: number
}): readonly TransactionInstruction[] {
  const { mint, authority, program = tokenProgram, decimals = mintDecimals, feeBps } = args
  const run = (data: Buffer) =>
    new TransactionInstruction({ programId: new PublicKey(program), keys: [account(mint, 'written')], data })
  const plain = run(Buffer.concat([Buffer.of(20, decimals), authority.toBytes(), Buffer.of(0)]))
  if (feeBps === undefined) return [plain]
  const fee = Buffer.alloc(2)
  fee.writeUInt16LE(feeBps)
  const nobody = Buffer.of(0)
  return [run(Buffer.concat([Buffer.of(26, 0), nobody, nobody, fee, uint64(2n ** 63n)])), plain]
}

/** Bytes of a mint account, with room for its transfer fee where it has one. */
export const mintBytes = { plain: 82, withFee: 278 } as const
