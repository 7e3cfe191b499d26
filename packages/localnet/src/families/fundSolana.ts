import { createHash } from 'node:crypto'
import { hexToBytes } from '@causeway/core'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import {
  createTokenAccount,
  type Depository,
  initialiseMint,
  mintBytes,
  mintTo,
  type SolanaNode,
  tokenAccount,
} from '../standIns/solana/index.ts'
import type { FamilyFunding } from './familySettings.ts'
import { type LocalMint, localMintList, mintSeedText } from './solanaTokens.ts'

type Cluster = { readonly node: SolanaNode; readonly depository: Depository }

/** The authority mints, and pays rent and fees of all accounts that are made here. */
const authorityLamports = 1_000n * 10n ** 9n

/**
 * Gives a new cluster its first state: mints, the depository's accounts for them, and balances. It sends transactions to
 * the real programs, because these accept only accounts that they made.
 * @throws Error when one of them is refused
 */
export function fundSolana(cluster: Cluster, { authoritySeed, grants }: FamilyFunding['solana']): void {
  const authority = Keypair.fromSeed(hexToBytes(authoritySeed))
  cluster.node.airdrop(authority.publicKey.toBase58(), authorityLamports)
  for (const mint of localMintList) makeMint(cluster, authority, mint)
  for (const { address, lamports, tokens } of grants) {
    cluster.node.airdrop(address, BigInt(lamports))
    for (const mint of localMintList) {
      give(cluster, authority, { mint, to: new PublicKey(address), amount: BigInt(tokens[mint.symbol]) })
    }
  }
}

function makeMint({ node, depository }: Cluster, authority: Keypair, mint: LocalMint): void {
  const { symbol, program, decimals } = mint
  const mintKey = Keypair.fromSeed(createHash('sha256').update(mintSeedText(symbol)).digest())
  if (mintKey.publicKey.toBase58() !== mint.address)
    throw new Error(`${mint.address} is not the mint of ${symbol}`)
  const creation = SystemProgram.createAccount({
    fromPubkey: authority.publicKey,
    newAccountPubkey: mintKey.publicKey,
    lamports: Number(node.rentExemption(mintBytes.plain)),
    space: mintBytes.plain,
    programId: new PublicKey(program),
  })
  const initialisation = initialiseMint({
    mint: mintKey.publicKey,
    authority: authority.publicKey,
    program,
    decimals,
  })
  send(node, [creation, ...initialisation], [authority, mintKey])
  const vault = new PublicKey(depository.addresses.vault)
  give({ node, depository }, authority, { mint, to: vault, amount: 0n })
}

/** Makes an owner's token account for a mint and mints `amount`, in smallest units, into it. */
function give(
  { node }: Cluster,
  authority: Keypair,
  { mint, to: owner, amount }: { readonly mint: LocalMint; readonly to: PublicKey; readonly amount: bigint },
): void {
  const { program } = mint
  const mintKey = new PublicKey(mint.address)
  const payer = authority.publicKey
  const holding = tokenAccount(owner, mintKey, program)
  const creation = createTokenAccount({ payer, owner, mint: mintKey, program })
  const minting = mintTo({ mint: mintKey, to: holding, authority: payer, amount, program })
  send(node, amount === 0n ? [creation] : [creation, minting], [authority])
}

function send(
  node: SolanaNode,
  instructions: readonly TransactionInstruction[],
  [payer, ...others]: readonly [Keypair, ...Keypair[]],
): void {
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: node.latestBlockhash(),
    instructions: [...instructions],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer, ...others])
  const sent = node.send(transaction.serialize(), { skipPreflight: false })
  if ('refusal' in sent) throw new Error(`the local cluster refuses its first state: ${sent.refusal}`)
}
