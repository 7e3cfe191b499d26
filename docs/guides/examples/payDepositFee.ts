// An integrator's server: quotes a Solana deposit whose network fee it pays, looks at what it is asked to sign, and
// signs first. What it prints goes to the user's wallet, which signs second and sends.
// Standard input: the members of a quote request. Standard output: {"requestId", "transaction"}, base64.
import { readFileSync } from 'node:fs'
import {
  Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'

const { QUOTE_API, SOLANA_RPC_URL = '', DEPOSITORY = '', PAYER_KEY_FILE = '' } = process.env
const computeBudget = 'ComputeBudget111111111111111111111111111111'
const tokenAccounts = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const feeLamportsMax = 100_000n
const payer = Keypair.fromSecretKey(
  Uint8Array.from(JSON.parse(readFileSync(PAYER_KEY_FILE, 'utf8')) as number[]),
)

// The quote is asked for here: instructions that a user brings along are never signed.
const response = await fetch(`${QUOTE_API}/quote`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    ...JSON.parse(readFileSync(0, 'utf8')),
    depositFeePayer: payer.publicKey.toBase58(),
  }),
})
const quote = JSON.parse(await response.text())
if (!response.ok) throw new Error(`${quote.errorCode}: ${quote.message}`)
const [step] = quote.steps
const { instructions } = step.items[0].data
const { networkFee } = quote.details.depositFeePayer
if (BigInt(networkFee.amount) > feeLamportsMax) throw new Error(`the fee is ${networkFee.amount} lamports`)

// The payer's signature is good for everything in the transaction: only what is expected may stand in it.
const expected = [computeBudget, tokenAccounts, DEPOSITORY]
for (const { programId, keys } of instructions) {
  if (!expected.includes(programId)) throw new Error(`it calls ${programId}`)
  const names = keys.some(({ pubkey }: { pubkey: string }) => pubkey === payer.publicKey.toBase58())
  if (names && programId !== tokenAccounts) throw new Error(`${programId} is given the payer's account`)
}

const { blockhash } = await new Connection(SOLANA_RPC_URL, 'confirmed').getLatestBlockhash()
const message = new TransactionMessage({
  payerKey: payer.publicKey,
  recentBlockhash: blockhash,
  instructions: instructions.map(
    ({
      keys,
      programId,
      data,
    }: {
      keys: { pubkey: string; isSigner: boolean; isWritable: boolean }[]
      programId: string
      data: string
    }) =>
      new TransactionInstruction({
        keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
        programId: new PublicKey(programId),
        data: Buffer.from(data, 'hex'),
      }),
  ),
}).compileToV0Message()
const transaction = new VersionedTransaction(message)
transaction.sign([payer])
const { requestId } = step
console.log(
  JSON.stringify({ requestId, transaction: Buffer.from(transaction.serialize()).toString('base64') }),
)
