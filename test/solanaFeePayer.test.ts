// Goal: the example of the guide pays a user's network fee and loses nothing else. Adversaries: the user, who changes
// what was signed; a quote service that slips in a transfer out of the payer's account, or an unbounded fee.
// Method: the example as a process of its own, against the real service and a service that lies.

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { repositoryRoot } from '../apps/quote-api/test/fixtures/service.ts'
import { postPatiently } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { type SolanaService, sol, solanaChainId, startSolanaService } from './support/solanaService.ts'

const payer = Keypair.generate()
const fundedLamports = 10n ** 9n
let solana: SolanaService
let directory: string
let liar: Server
/** Changes an honest answer. */
let lie: (quote: Quote) => Quote = (quote) => quote

type Instruction = {
  programId: string
  data: string
  keys: { pubkey: string; isSigner: boolean; isWritable: boolean }[]
}
type Quote = {
  steps: { items: { data: { instructions: Instruction[] } }[] }[]
  details: { depositFeePayer: { networkFee: { amount: string } } }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-fee-payer-'))
  await writeFile(join(directory, 'payer.json'), JSON.stringify([...payer.secretKey]), { mode: 0o600 })
  solana = await startSolanaService()
  solana.bed.node.airdrop(payer.publicKey.toBase58(), fundedLamports)
  liar = createServer(async (request, response) => {
    const headers = { 'content-type': 'application/json' }
    const honest = await postPatiently(`${solana.url}/quote`, JSON.parse(await text(request)))
    const body = honest.status === 200 ? JSON.stringify(lie(JSON.parse(honest.text))) : honest.text
    response.writeHead(honest.status, headers).end(body)
  })
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
}, 120_000)
afterAll(async () => {
  liar?.close()
  await solana?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function signedByPayer(): Promise<{ output: string; errors: string }> {
  const address = liar.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  const child = spawn(process.execPath, [join(repositoryRoot, 'docs/guides/examples/payDepositFee.ts')], {
    cwd: repositoryRoot,
    env: {
      PATH: process.env['PATH'],
      QUOTE_API: `http://127.0.0.1:${address.port}`,
      SOLANA_RPC_URL: solana.bed.url,
      DEPOSITORY: solana.bed.depository.program.toBase58(),
      PAYER_KEY_FILE: join(directory, 'payer.json'),
    },
  })
  child.stdin.end(
    JSON.stringify({
      user: solana.bed.user.publicKey.toBase58(),
      recipient: userOf(solana.network, 0).address,
      originChainId: solanaChainId,
      destinationChainId: 10,
      originCurrency: sol,
      destinationCurrency: currencyAddress(solana.network, 'optimism', 'USDC'),
      amount: '100000000',
      tradeType: 'EXACT_INPUT',
    }),
  )
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { output, errors }
}

const printed = z.object({ requestId: z.string(), transaction: z.base64() })
const payerHas = async () => BigInt(await solana.bed.connection.getBalance(payer.publicKey))

test('the user signs second and sends; the payer loses what the quote named', async () => {
  let quoted = 0n
  lie = (quote) => {
    quoted = BigInt(quote.details.depositFeePayer.networkFee.amount)
    return quote
  }
  const { output } = await signedByPayer()
  const { transaction } = printed.parse(JSON.parse(output))
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([solana.bed.user])
  await solana.bed.connection.sendRawTransaction(signed.serialize(), { maxRetries: 0 })
  expect(fundedLamports - (await payerHas())).toBe(quoted)
  expect(quoted).toBeGreaterThan(10_000n)
})

test('a user who changes what was signed gets no transaction through', async () => {
  lie = (quote) => quote
  const before = await payerHas()
  const { transaction } = printed.parse(JSON.parse((await signedByPayer()).output))
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  const [instruction] = signed.message.compiledInstructions
  if (instruction === undefined) throw new Error('it has no instruction')
  // A unit price that the payer never saw.
  instruction.data = Buffer.from('0300ca9a3b00000000', 'hex')
  signed.sign([solana.bed.user])
  await expect(
    solana.bed.connection.sendRawTransaction(signed.serialize(), { maxRetries: 0 }),
  ).rejects.toThrow()
  expect(await payerHas()).toBe(before)
})

const theft = () => {
  const { keys, programId, data } = SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: solana.bed.user.publicKey,
    lamports: 900_000_000,
  })
  const named = keys.map((key) => ({ ...key, pubkey: key.pubkey.toBase58() }))
  return { programId: programId.toBase58(), data: data.toString('hex'), keys: named }
}

test.each<[string, (quote: Quote) => void, string]>([
  ['a transfer out of its account', (quote) => instructionsOf(quote).push(theft()), 'it calls 1111'],
  [
    'its account as the one that deposits',
    (quote) => {
      for (const { keys, programId } of instructionsOf(quote))
        if (programId === solana.bed.depository.program.toBase58() && keys[1] !== undefined)
          keys[1].pubkey = payer.publicKey.toBase58()
    },
    "is given the payer's account",
  ],
  [
    'a fee beyond its bound',
    (quote) => {
      quote.details.depositFeePayer.networkFee.amount = '100001'
    },
    'the fee is 100001 lamports',
  ],
])('the payer does not sign %s', async (_what, change, refusal) => {
  lie = (quote) => {
    change(quote)
    return quote
  }
  const { output, errors } = await signedByPayer()
  expect([output, errors]).toEqual(['', expect.stringContaining(refusal)])
})

function instructionsOf(quote: Quote): Instruction[] {
  const instructions = quote.steps[0]?.items[0]?.data.instructions
  if (instructions === undefined) throw new Error('the quote has no instructions')
  return instructions
}
