import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeTopUp } from '@causeway/families/rules'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { connectLocalChain } from '../../nodes/localChain.ts'
import { StartFailure } from '../../processes/processEnd.ts'
import type { LocalNetwork } from '../startLocalNetwork.ts'
import { writeSecretFile } from './writeSecretFile.ts'

/** An API key that sponsors quotes: created, linked and topped up as an integrator's would be. */
export type DemoSponsor = { readonly apiKey: string }

export type DemoSponsorOptions = {
  readonly network: LocalNetwork
  readonly quoteApiUrl: string
  readonly adminUrl: string
  /** Key of the admin listener, where one is set. */
  readonly adminKey: string | undefined
  readonly signal: AbortSignal
}

const secretName = 'sponsor-api.key'
const topUpMicroUsd = 100_000_000n
const creditedTimeoutMs = 120_000
const pollMs = 100

const createdSchema = z.object({ apiKey: z.string() })
const challengeSchema = z.object({ message: z.string(), nonce: z.string() })
const balanceSchema = z.object({ amount: z.string().regex(/^[0-9]+$/) })

/**
 * Prepares the demo sponsor of a local network. Its API key is kept among the network's secrets; a key that quote-api's
 * database does not know is replaced by a new one, and an empty balance is topped up. @throws StartFailure
 */
export async function prepareDemoSponsor(options: DemoSponsorOptions): Promise<DemoSponsor> {
  const { network, quoteApiUrl } = options
  const kept = await readKept(join(network.paths.secrets, secretName))
  if (kept !== undefined && (await isKnown(quoteApiUrl, kept))) {
    await topUpOnce(options)
    return { apiKey: kept }
  }
  const apiKey = await createKey(options)
  await linkWallet(options, apiKey)
  await topUpOnce(options)
  // Written last, so that a kept key is linked.
  await writeSecretFile(network.paths.secrets, secretName, apiKey)
  return { apiKey }
}

async function createKey({ adminUrl, adminKey, signal }: DemoSponsorOptions): Promise<string> {
  const headers = adminKey === undefined ? {} : { 'x-api-key': adminKey }
  const created = await send(`${adminUrl}/admin/keys`, { body: { label: 'npm start' }, headers, signal })
  return createdSchema.parse(created).apiKey
}

async function linkWallet(options: DemoSponsorOptions, apiKey: string): Promise<void> {
  const { network, quoteApiUrl, signal } = options
  const { address: wallet, privateKey } = network.keys.sponsor
  const headers = { 'x-api-key': apiKey }
  const walletsUrl = `${quoteApiUrl}/sponsorship/wallets`
  const { message, nonce } = challengeSchema.parse(
    await send(`${walletsUrl}/challenge`, { body: { wallet }, headers, signal }),
  )
  const signature = await privateKeyToAccount(privateKey).signMessage({ message })
  await send(`${walletsUrl}/link`, { body: { wallet, nonce, signature }, headers, signal })
}

/** Tops up an empty balance on chain and waits for the credit. */
async function topUpOnce(options: DemoSponsorOptions): Promise<void> {
  const { network, signal } = options
  if ((await readBalance(options)) > 0n) return
  const { chains, deployment, keys } = network
  const chain = connectLocalChain(chains.base.url, chains.base.chainId)
  const { to, data } = encodeTopUp({
    token: deployment.base.tokens.USDC,
    custody: keys.custody.address,
    amountMicroUsd: topUpMicroUsd,
  })
  await chain.send(keys.sponsor, [{ what: 'top-up of the demo sponsor', to, data }])
  const deadline = performance.now() + creditedTimeoutMs
  while ((await readBalance(options)) === 0n) {
    signal.throwIfAborted()
    if (performance.now() > deadline)
      throw new StartFailure('The demo sponsor was topped up and not credited.')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/** The wallet's sponsorship balance in micro-USD: `amount` of its balance record. */
async function readBalance({ network, quoteApiUrl, signal }: DemoSponsorOptions): Promise<bigint> {
  const url = `${quoteApiUrl}/app-fees/${network.keys.sponsor.address}/balances`
  return BigInt(balanceSchema.parse(await send(url, { headers: {}, signal })).amount)
}

async function isKnown(quoteApiUrl: string, apiKey: string): Promise<boolean> {
  const response = await fetch(`${quoteApiUrl}/chains`, { headers: { 'x-api-key': apiKey } })
  // Reads the answer to its end, so that the connection is free again.
  await response.arrayBuffer()
  return response.ok
}

async function readKept(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Sends a POST where there is a body, else a GET. @throws StartFailure with what the service answered */
async function send(
  url: string,
  request: { body?: object; headers: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<unknown> {
  const { body, headers, signal } = request
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  })
  const text = await response.text()
  if (!response.ok) {
    throw new StartFailure(
      `The demo sponsor could not be prepared: ${new URL(url).pathname} answered ${text}`,
    )
  }
  return JSON.parse(text)
}
