// Users of the network that `npm start` runs, one on each family of chains: what they pay with, where they are paid, and
// what the public client and its wallets do with a quote. All they know is the URLs of the network and their own keys.
import { type Hex, hexToBytes } from '@causeway/core'
import {
  familyAccounts,
  familyChainIds,
  familyTokens,
  type Session,
  solanaAccounts,
} from '@causeway/localnet'
import { keyOfSecret } from '@causeway/localnet/standIns/bitcoin'
import { Connection, Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { postPsbt, psbtOf } from './bitcoinSettling.ts'
import { authorize, postTransfer, transferOf } from './hyperliquidSettling.ts'
import { executeLighterStep } from './lighterSettling.ts'
import { instructionsOf } from './solanaSettling.ts'
import { executeQuote } from './tronSettling.ts'

export const families = ['evm', 'solana', 'bitcoin', 'tron', 'lighter', 'hyperliquid'] as const
export type Family = (typeof families)[number]

export type LocalWallet = {
  readonly chainId: number
  readonly currency: string
  /** About two hundred dollars of it. */
  readonly amount: string
  readonly account: string
  /** Signs what a quote asks for, and sends it. */
  pay(quote: QuoteAnswer): Promise<unknown>
}

/** The wallets of one user of a session. */
export function localWallets(session: Session, index: number): Readonly<Record<Family, LocalWallet>> {
  const { network, families: others, services } = session
  const { keys, chains, deployment } = network
  const accounts = familyAccounts(keys)
  const [user, bitcoin, tron, lighter] = [
    keys.users[index],
    accounts.bitcoin.users[index],
    accounts.tron.users[index],
    accounts.lighter.users[index],
  ]
  const solana = solanaAccounts(keys).users[index]
  if (user === undefined || bitcoin === undefined || tron === undefined || lighter === undefined)
    throw new Error('no such user')
  if (solana === undefined || others === undefined) throw new Error('the other families do not run')
  const tokens = familyTokens(deployment.tron)
  const quoteUrl = `http://127.0.0.1:${services.find(({ plan }) => plan.name === 'quote-api')?.ports['http']}`
  const urlOf = (family: Exclude<Family, 'evm'>) => others.urls[family].url
  const on = (family: Exclude<Family, 'evm'>, symbol: string, amount: bigint) => ({
    chainId: familyChainIds[family],
    currency: tokens[family][symbol] ?? '',
    amount: amount.toString(),
  })
  return {
    evm: {
      chainId: deployment.base.chainId,
      currency: deployment.base.tokens.USDC,
      amount: '200000000',
      account: user.address,
      async pay({ steps }) {
        const { walletClient, publicClient } = chains.base.chain.as(user)
        for (const { items } of steps)
          for (const { data } of items) {
            const hash = await walletClient.sendTransaction(evmStep.parse(data))
            await publicClient.waitForTransactionReceipt({ hash })
          }
      },
    },
    solana: {
      ...on('solana', 'USDC', 200_000_000n),
      account: solana.address,
      async pay(quote) {
        const connection = new Connection(urlOf('solana'), 'confirmed')
        const payer = Keypair.fromSeed(hexToBytes(solana.seed))
        const { blockhash: recentBlockhash } = await connection.getLatestBlockhash()
        const instructions = [...instructionsOf(quote)]
        const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
        const transaction = new VersionedTransaction(message.compileToV0Message())
        transaction.sign([payer])
        return connection.sendRawTransaction(transaction.serialize())
      },
    },
    bitcoin: {
      ...on('bitcoin', 'BTC', 200_000n),
      account: bitcoin.address,
      pay: (quote) =>
        postPsbt(
          `${urlOf('bitcoin')}/api`,
          psbtOf(quote),
          keyOfSecret(hexToBytes(bitcoin.privateKey)).signer,
        ),
    },
    tron: {
      ...on('tron', 'TRX', 800_000_000n),
      account: tron.address,
      pay: (quote) =>
        executeQuote({ nodes: [{ url: urlOf('tron') }] }, quote, {
          key: tron.privateKey,
          address: tron.address,
        }),
    },
    lighter: {
      ...on('lighter', 'USDC', 200_000_000n),
      account: lighter.account,
      pay: ({ steps }) =>
        executeLighterStep({ nodes: [{ url: urlOf('lighter') }] }, steps[0]?.items[0]?.data, {
          account: lighter.account,
          key: lighter.owner.privateKey,
        }),
    },
    hyperliquid: {
      ...on('hyperliquid', 'USDC', 20_000_000_000n),
      account: user.address,
      async pay(quote) {
        const { status, text } = await authorize(quoteUrl, quote, { key: user.privateKey })
        if (status !== 200) throw new Error(`it was not authorized: ${text}`)
        await postTransfer(urlOf('hyperliquid'), transferOf(quote), user.privateKey)
      },
    },
  }
}

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value))
/** Schema of a transaction that a wallet on an EVM chain is asked to send. */
const evmStep = z.object({ to: hex, data: hex, value: z.coerce.bigint() })
