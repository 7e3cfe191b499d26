// Goal: the published client with its published Solana wallet bridges from and to Solana without a change to either,
// and oracles attest both ways. Adversaries: none; this is what an honest app does. Method: the packages as npm has
// them, pointed at a whole local network: nodes, quote-api, three oracles and the solver. The wallet compiles the
// transaction; the test signs and sends it, as a browser extension would; what counts is what the chains hold.
import { associatedTokenAccount, tokenProgram } from '@causeway/families/rules'
import { familyChainIds, localMints, type SolanaAccount, solanaAccounts } from '@causeway/localnet'
import type { AdaptedWallet, Execute, getClient } from '@relayprotocol/relay-sdk'
import { configureDynamicChains } from '@relayprotocol/relay-sdk/chain-utils'
import { adaptSolanaWallet } from '@relayprotocol/relay-svm-wallet-adapter'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { nativeCurrency, type PublicClientBed, startPublicClientBed } from './support/publicClientBed.ts'
import { firstFamilyPort } from './support/sessionBed.ts'

/** SOL, as clients name it. */
const sol = '1'.repeat(32)
const { solana: solanaChainId } = familyChainIds
const usdcMint = localMints.USDC.address
const usdcOnSolana = { mint: usdcMint, tokenProgram }

let bed: PublicClientBed
let connection: Connection

beforeAll(async () => {
  bed = await startPublicClientBed({}, { firstFamilyPort })
  const url = bed.session.families?.urls.solana.url ?? ''
  // The library takes the port above for subscriptions, where none is named.
  connection = new Connection(url, { commitment: 'confirmed', wsEndpoint: url.replace('http', 'ws') })
  await configureDynamicChains()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

/** Proofs and payouts take their time on a busy machine. */
const patience = { timeout: 120_000, interval: 250 }

const base = () => bed.session.network.deployment.base
const solanaUser = (index: number): SolanaAccount => {
  const user = solanaAccounts(bed.session.network.keys).users[index]
  if (user === undefined) throw new Error(`no user ${index}`)
  return user
}
const keyOf = ({ seed }: SolanaAccount) => Keypair.fromSeed(Buffer.from(seed.slice(2), 'hex'))
const freshAddress = () => privateKeyToAddress(generatePrivateKey())
const freshWallet = () => Keypair.generate().publicKey.toBase58()

/** The published wallet of a user; another payer signs as well. */
function solanaWallet(user: SolanaAccount, payer?: SolanaAccount): AdaptedWallet {
  const signers = [user, ...(payer === undefined ? [] : [payer])].map(keyOf)
  return adaptSolanaWallet(
    user.address,
    solanaChainId,
    connection,
    async (transaction) => {
      transaction.sign(signers)
      return { signature: await connection.sendTransaction(transaction) }
    },
    payer?.address,
  )
}

type Asked = Parameters<ReturnType<typeof getClient>['actions']['getQuote']>[0]

/** By default 20 USDC, to a fresh account. */
const fromSolana = (change: Partial<Asked> = {}) =>
  bed.client.actions.getQuote({
    chainId: solanaChainId,
    currency: usdcMint,
    amount: '20000000',
    tradeType: 'EXACT_INPUT',
    toChainId: base().chainId,
    toCurrency: base().tokens.USDC,
    user: solanaUser(0).address,
    recipient: freshAddress(),
    ...change,
  })

/** By default 20 USDC, to a fresh wallet. */
const toSolana = (change: Partial<Asked> = {}) =>
  bed.client.actions.getQuote({
    chainId: base().chainId,
    currency: base().tokens.USDC,
    amount: '20000000',
    tradeType: 'EXACT_INPUT',
    toChainId: solanaChainId,
    toCurrency: usdcMint,
    user: bed.user(0),
    recipient: freshWallet(),
    ...change,
  })

async function execute(quote: Execute, wallet: AdaptedWallet | ReturnType<PublicClientBed['wallet']>) {
  const { data } = await bed.client.actions.execute({ quote, wallet })
  return data
}

const itemsOf = ({ steps }: Execute) => steps.flatMap(({ items }) => items ?? [])
const outOf = (quote: Execute) => BigInt(quote.details?.currencyOut?.amount ?? 0)

const statusSchema = z.looseObject({
  status: z.string(),
  inTxHashes: z.array(z.string()),
  txHashes: z.array(z.string()),
})

async function statusOf({ steps }: Execute) {
  const requestId = steps.at(-1)?.requestId
  const response = await fetch(`${bed.url}/intents/status/v3?requestId=${requestId}`)
  return statusSchema.parse(await response.json())
}

/** Every step is complete, and the transactions of both chains are told as their explorers spell them. */
async function expectSuccess(done: Execute, txHashes: { readonly in: RegExp; readonly out: RegExp }) {
  expect(itemsOf(done).map(({ status }) => status)).toEqual(itemsOf(done).map(() => 'complete'))
  expect(await statusOf(done)).toMatchObject({
    status: 'success',
    inTxHashes: [expect.stringMatching(txHashes.in)],
    txHashes: [expect.stringMatching(txHashes.out)],
  })
}

const onSolana = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
const onSolanaAccount = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const onBase = /^0x[0-9a-f]{64}$/

const usdcOnBase = (holder: Hex) =>
  bed.session.network.chains.base.chain.client.readContract({
    address: base().tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const nativeOnBase = (address: Hex) => bed.session.network.chains.base.chain.client.getBalance({ address })
const lamports = (holder: string) => connection.getBalance(new PublicKey(holder))
const tokens = async (holder: string) => {
  const account = await connection.getAccountInfo(new PublicKey(associatedTokenAccount(holder, usdcOnSolana)))
  return account?.data.readBigUInt64LE(64) ?? 0n
}

/** App's claimable USDC of a chain: its fees count once enough oracles attested the fill. */
const usdcOwed = async (wallet: Hex, place: { readonly chainId: number; readonly address: string }) => {
  const [, ...owed] = await bed.client.actions.getAppFees({ wallet })
  const usdc = owed.find(
    ({ currency }) => currency?.chainId === place.chainId && currency.address === place.address,
  )
  return BigInt(usdc?.amount ?? 0)
}
const ofSolana = { chainId: solanaChainId, address: usdcMint }
const ofBase = () => ({ chainId: base().chainId, address: base().tokens.USDC })

test('the chains of the service are those of the client, Solana among them', () => {
  const solana = bed.client.chains.find(({ id }) => id === solanaChainId)
  expect(solana).toMatchObject({ vmType: 'svm', currency: { address: sol, decimals: 9 } })
})

describe('from Solana', () => {
  test('USDC is deposited by the published wallet, filled on Base, and oracles attest it', async () => {
    const [recipient, app, user] = [freshAddress(), bed.user(5), solanaUser(0)]
    const [held, owed] = [await tokens(user.address), await usdcOwed(app, ofSolana)]
    const quote = await fromSolana({ recipient, options: { appFees: [{ recipient: app, fee: '100' }] } })
    expect(quote.steps.map(({ id, kind }) => [id, kind])).toEqual([['deposit', 'transaction']])
    await expectSuccess(await execute(quote, solanaWallet(user)), { in: onSolana, out: onBase })
    expect(await usdcOnBase(recipient)).toBe(outOf(quote))
    expect(await tokens(user.address)).toBe(held - 20_000_000n)
    await expect
      .poll(() => usdcOwed(app, ofSolana), patience)
      .toBe(owed + BigInt(quote.fees?.app?.amount ?? 0))
  })

  test('SOL is deposited by the published wallet and paid as ETH', async () => {
    const [recipient, user] = [freshAddress(), solanaUser(1)]
    const held = await lamports(user.address)
    const change = { currency: sol, amount: '200000000', toCurrency: nativeCurrency }
    const quote = await fromSolana({ ...change, user: user.address, recipient })
    const wallet = solanaWallet(user)
    const done = await execute(quote, wallet)
    await expectSuccess(done, { in: onSolana, out: onBase })
    expect(await nativeOnBase(recipient)).toBe(outOf(quote))
    const spent = held - (await lamports(user.address))
    expect(spent).toBe(200_000_000 + Number(quote.fees?.gas?.amount))
    // Across chains a status of the service may come before the wallet's own confirmation, by subscription.
    const [signature = ''] = (await statusOf(done)).inTxHashes
    const confirmed = await wallet.handleConfirmTransactionStep(
      signature,
      solanaChainId,
      () => {},
      () => {},
    )
    expect(confirmed).toMatchObject({ txHash: signature })
  })

  test('app fees that accrued are claimed there by the wallet that they are owed to', async () => {
    const [app, recipient] = [bed.user(3), solanaUser(1).address]
    const quote = await fromSolana({ options: { appFees: [{ recipient: app, fee: '100' }] } })
    await execute(quote, solanaWallet(solanaUser(0)))
    const fee = BigInt(quote.fees?.app?.amount ?? 0)
    await expect.poll(() => usdcOwed(app, ofSolana), patience).toBe(fee)
    const held = await tokens(recipient)
    const claimed = await bed.client.actions.claimAppFees({
      wallet: bed.wallet(3, 'base'),
      chainId: solanaChainId,
      currency: usdcMint,
      recipient,
    })
    expect(itemsOf(claimed.data).map(({ status }) => status)).toEqual(['complete'])
    await expect.poll(() => tokens(recipient), patience).toBe(held + fee)
    expect(await usdcOwed(app, ofSolana)).toBe(0n)
  }, 180_000)

  test('a deposit address is paid by the published wallet, swept and filled', async () => {
    const [recipient, user] = [freshAddress(), solanaUser(0)]
    const options = { useDepositAddress: true, refundTo: user.address }
    const quote = await fromSolana({ user: user.address, recipient, options })
    expect(quote.steps).toMatchObject([
      { id: 'deposit', depositAddress: expect.stringMatching(onSolanaAccount) },
    ])
    await expectSuccess(await execute(quote, solanaWallet(user)), { in: onSolana, out: onBase })
    expect(await usdcOnBase(recipient)).toBe(outOf(quote))
    expect(await tokens(quote.steps[0]?.depositAddress ?? '')).toBe(0n)
  })

  test('another payer than the user pays the fee of the deposit', async () => {
    const [recipient, user, payer] = [freshAddress(), solanaUser(2), solanaUser(3)]
    const [held, heldByPayer] = [await lamports(user.address), await lamports(payer.address)]
    const options = { depositFeePayer: payer.address }
    const quote = await fromSolana({ user: user.address, recipient, options })
    await expectSuccess(await execute(quote, solanaWallet(user, payer)), { in: onSolana, out: onBase })
    expect(await usdcOnBase(recipient)).toBe(outOf(quote))
    expect(await lamports(user.address)).toBe(held)
    expect(await lamports(payer.address)).toBeLessThan(heldByPayer)
  })
})

describe('what cannot be filled goes back on Solana', () => {
  const itemSchema = z.looseObject({ instructions: z.array(z.looseObject({ data: z.string() })) })
  const word = (amount: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(amount)
    return bytes.toString('hex')
  }

  test('a deposit of a tenth of what was quoted, and the client says so', async () => {
    const user = solanaUser(4)
    const quote = await fromSolana({ user: user.address })
    const [item] = itemsOf(quote)
    const { instructions, ...rest } = itemSchema.parse(item?.data)
    const shorter = instructions.map(({ data, ...instruction }) => {
      return { ...instruction, data: data.replace(word(20_000_000n), word(2_000_000n)) }
    })
    expect(shorter).not.toEqual(instructions)
    Object.assign(item ?? {}, { data: { ...rest, instructions: shorter } })
    const held = await tokens(user.address)
    await expect(execute(quote, solanaWallet(user))).rejects.toThrow('Refunded')
    expect(await statusOf(quote)).toMatchObject({
      status: 'refund',
      failReason: 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL',
      txHashes: [expect.stringMatching(onSolana)],
    })
    const cost = held - (await tokens(user.address))
    expect(cost).toBeGreaterThan(0n)
    expect(cost).toBeLessThan(200_000n)
  }, 180_000)
})

describe('to Solana', () => {
  test('USDC of Base is paid to a wallet that had no token account', async () => {
    const recipient = freshWallet()
    const quote = await toSolana({ recipient })
    await expectSuccess(await execute(quote, bed.wallet(0, 'base')), { in: onBase, out: onSolana })
    expect(await tokens(recipient)).toBe(outOf(quote))
  })

  test('ETH of Base is paid as SOL', async () => {
    const recipient = freshWallet()
    const change = { currency: nativeCurrency, amount: '10000000000000000', toCurrency: sol }
    const quote = await toSolana({ ...change, user: bed.user(1), recipient })
    await expectSuccess(await execute(quote, bed.wallet(1, 'base')), { in: onBase, out: onSolana })
    expect(BigInt(await lamports(recipient))).toBe(outOf(quote))
  })

  test('oracles attest what was paid on Solana: the fees of an app are owed', async () => {
    const [app, recipient] = [bed.user(4), solanaUser(5).address]
    const [held, owed] = [await tokens(recipient), await usdcOwed(app, ofBase())]
    const quote = await toSolana({
      user: bed.user(2),
      recipient,
      options: { appFees: [{ recipient: app, fee: '100' }] },
    })
    await expectSuccess(await execute(quote, bed.wallet(2, 'base')), { in: onBase, out: onSolana })
    expect(await tokens(recipient)).toBe(held + outOf(quote))
    await expect
      .poll(() => usdcOwed(app, ofBase()), patience)
      .toBe(owed + BigInt(quote.fees?.app?.amount ?? 0))
  })
})
