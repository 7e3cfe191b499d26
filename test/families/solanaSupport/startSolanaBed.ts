import { token2022Program, tokenProgram } from '@causeway/families/rules'
import {
  createTokenAccount,
  type Depository,
  deployDepository,
  initialiseMint,
  mintBytes,
  mintTo,
  programBytes,
  SolanaNode,
  startRpcServer,
  tokenAccount,
} from '@causeway/localnet/standIns/solana'
import {
  type AddressLookupTableAccount,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { signVersion1, type Version1Config } from './version1.ts'

export type SendOptions = {
  /** Default: the user. The first pays. */
  readonly signers?: readonly Keypair[]
  /** Default: 0. */
  readonly version?: 'legacy' | 0 | 1
  /** Only in version 1. */
  readonly config?: Version1Config
  readonly tables?: readonly AddressLookupTableAccount[]
  /** Sends what a node would refuse: it fails on chain. */
  readonly skipPreflight?: boolean
}

/** A local cluster with a depository, tokens and a funded user, and readers of it. */
export type SolanaBed = {
  readonly node: SolanaNode
  readonly url: string
  readonly connection: Connection
  readonly depository: Depository
  readonly forwarder: PublicKey
  /** Makes and empties deposit addresses. */
  readonly addressProgram: PublicKey
  readonly user: Keypair
  /** Holds what withdrawals and payments go to; has no key here. */
  readonly recipient: PublicKey
  /** Mints of the first token program, and of Token-2022 with a fee of 1 %. */
  readonly mint: PublicKey
  readonly feeMint: PublicKey
  /** @returns the transaction id */
  send(instructions: readonly TransactionInstruction[], options?: SendOptions): Promise<string>
  /** Another depository, with a vault of its own. */
  deployDepository(): Depository
  stop(): Promise<void>
}

export async function startSolanaBed(): Promise<SolanaBed> {
  const node = new SolanaNode()
  const server = await startRpcServer(node)
  const connection = new Connection(server.url, 'confirmed')
  const depository = deploy(node)
  const [forwarder, addressProgram] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  const user = Keypair.generate()
  const [mint, feeMint] = [Keypair.generate(), Keypair.generate()]
  const recipient = Keypair.generate().publicKey
  node.addProgram(forwarder.toBase58(), programBytes('forwarder'))
  node.addProgram(addressProgram.toBase58(), programBytes('depositAddresses'))
  for (const funded of [user.publicKey.toBase58(), recipient.toBase58()]) {
    node.airdrop(funded, 10n ** 10n)
  }
  const bed: SolanaBed = {
    node,
    url: server.url,
    connection,
    forwarder,
    addressProgram,
    user,
    recipient,
    mint: mint.publicKey,
    feeMint: feeMint.publicKey,
    depository,
    send: (instructions, options) => send(connection, instructions, { signers: [user], ...options }),
    deployDepository: () => deploy(node),
    stop: server.stop,
  }
  await createMint(bed, { mint, program: tokenProgram, bytes: mintBytes.plain })
  await createMint(bed, { mint: feeMint, program: token2022Program, bytes: mintBytes.withFee, feeBps: 100 })
  return bed
}

function deploy(node: SolanaNode): Depository {
  const depository = deployDepository(node, Keypair.generate().publicKey.toBase58())
  node.airdrop(depository.addresses.vault, 10n ** 10n)
  return depository
}

async function send(
  connection: Connection,
  instructions: readonly TransactionInstruction[],
  { signers = [], version = 0, tables = [], skipPreflight = false, config }: SendOptions,
): Promise<string> {
  const [payer] = signers
  if (payer === undefined) throw new Error('nobody pays')
  const { blockhash } = await connection.getLatestBlockhash()
  const sendBytes = (bytes: Uint8Array) =>
    connection.sendRawTransaction(bytes, { skipPreflight, maxRetries: 0 })
  if (version === 1)
    return sendBytes(await signVersion1({ instructions, signers, blockhash, ...(config && { config }) }))
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [...instructions],
  })
  const transaction = new VersionedTransaction(
    version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message([...tables]),
  )
  transaction.sign([...signers])
  return sendBytes(transaction.serialize())
}

/** A mint of which the user holds a million; the recipient and the vault have accounts for it. */
async function createMint(
  bed: SolanaBed,
  args: {
    readonly mint: Keypair
    readonly program: string
    readonly bytes: number
    readonly feeBps?: number
  },
): Promise<void> {
  const { mint, program, bytes, feeBps } = args
  const { publicKey: authority } = bed.user
  const key = mint.publicKey
  const owners = [authority, bed.recipient, new PublicKey(bed.depository.addresses.vault)]
  const creation = SystemProgram.createAccount({
    fromPubkey: authority,
    newAccountPubkey: key,
    lamports: Number(bed.node.rentExemption(bytes)),
    space: bytes,
    programId: new PublicKey(program),
  })
  const fee = feeBps === undefined ? {} : { feeBps }
  await bed.send([creation, ...initialiseMint({ mint: key, authority, program, ...fee })], {
    signers: [bed.user, mint],
  })
  await bed.send(owners.map((owner) => createTokenAccount({ payer: authority, owner, mint: key, program })))
  for (const owner of [authority, new PublicKey(bed.depository.addresses.vault)]) {
    const to = tokenAccount(owner, key, program)
    await bed.send([mintTo({ mint: key, to, authority, amount: 10n ** 12n, program })])
  }
}
