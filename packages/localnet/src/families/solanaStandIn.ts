import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import {
  type ClusterEvent,
  clusterEventSchema,
  type Depository,
  deployDepository,
  depositNative,
  programBytes,
  SolanaNode,
  startRpcServer,
} from '../standIns/solana/index.ts'
import { isSolanaWalletName, solanaWallets } from '../wallets/solanaWallets.ts'
import { placeSolanaWallet } from '../wallets/tokenHolders.ts'
import { familyPlans, solanaAddressProgram } from './familyPlans.ts'
import { fundSolana } from './fundSolana.ts'
import { openJournal } from './journal.ts'
import { localMints, solanaBlockTimeMs } from './solanaTokens.ts'
import { type FamilyStandIn, firstDepositor, requireName, type StandInOptions } from './standIn.ts'

const noOrder: Hex = `0x${'00'.repeat(32)}`
const feeLamports = 5_000n
/** Balance that an account keeps, above the rent exemption. */
const leftLamports = 1_000_000_000n
/** One WETH, for an account that an operator asks for. */
const walletWeth = 1_000_000_000n

/** A journal entry: events of the cluster. The first entry is the whole first state. */
const entrySchema = z.array(clusterEventSchema)

/** Opens the Solana stand-in: the depository and deposit address programs on the Solana runtime, behind JSON-RPC. */
export async function openSolana(options: StandInOptions): Promise<FamilyStandIn> {
  const { port, depository, funding } = options
  const node = new SolanaNode()
  const deployed = deployDepository(node, depository)
  node.addProgram(solanaAddressProgram, programBytes('depositAddresses'))
  node.airdrop(deployed.addresses.vault, leftLamports)
  const deposit = (amount: bigint, depositor: string): string => {
    const sender = Keypair.fromSeed(createHash('sha256').update(depositor).digest())
    // The deposit is the only transaction of its sender.
    const [earlierSignature] = node.transactionsOf(sender.publicKey.toBase58())[0] ?? []
    return earlierSignature ?? depositFrom({ node, deployed }, sender, amount)
  }
  const begin = () => {
    // Before the funding, so that the deposit's id does not depend on it.
    deposit(familyPlans.solana.firstAmount, firstDepositor)
    if (funding === undefined) return
    fundSolana({ node, depository: deployed }, funding.solana)
    node.followClock(Date.now(), solanaBlockTimeMs)
  }
  if (funding === undefined) begin()
  else keepCluster(node, options.journalFile, begin)
  const server = await startRpcServer(node, port)
  const ticking = funding && setInterval(() => node.tickAt(Date.now()), solanaBlockTimeMs)
  return {
    url: server.url,
    stop() {
      clearInterval(ticking)
      return server.stop()
    },
    deposit: async (amount, depositor) => ({ transactionId: deposit(amount, depositor) }),
    async placeWallet(text) {
      const name = requireName(text, isSolanaWalletName, solanaWallets)
      const mint = new PublicKey(localMints.WETH.address)
      return placeSolanaWallet(node, name, { mint, amount: walletWeth })
    },
  }
}

/** Replays the cluster of the journal, or begins one. Every later event is added to the journal. */
function keepCluster(node: SolanaNode, journalFile: string | undefined, begin: () => void): void {
  const { kept, add } = openJournal(journalFile, entrySchema, (entry) => z.encode(entrySchema, entry))
  for (const event of kept.flat()) node.replay(event)
  if (kept.length === 0) {
    const first: ClusterEvent[] = []
    node.record((event) => first.push(event))
    begin()
    add(first)
  }
  node.record((event) => add([event]))
}

function depositFrom(
  { node, deployed }: { readonly node: SolanaNode; readonly deployed: Depository },
  sender: Keypair,
  amount: bigint,
): string {
  node.airdrop(sender.publicKey.toBase58(), amount + feeLamports + leftLamports)
  const message = new TransactionMessage({
    payerKey: sender.publicKey,
    recentBlockhash: node.latestBlockhash(),
    instructions: [depositNative(deployed, { sender: sender.publicKey, amount, id: noOrder })],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([sender])
  const sent = node.send(transaction.serialize(), { skipPreflight: false })
  if ('refusal' in sent) throw new Error(`the deposit is refused: ${sent.refusal}`)
  return sent.signature
}
