// Depositors of each family as recoveries know them: keys that deposit and sign withdrawals, and how the chain pays what
// the allocator signed.

import { type Hex, hexToBytes, keccak256 } from '@causeway/core'
import { tronHexAddress } from '@causeway/core/encodings'
import {
  decodeHyperliquidWithdrawal,
  decodeLighterWithdrawal,
  decodeSolanaWithdrawal,
  solanaLibrary,
  solanaWithdrawalId,
} from '@causeway/families/rules'
import { renderTransferInfo } from '@causeway/localnet/standIns/lighter'
import { createTokenAccount, executeTransfer, tokenAccount } from '@causeway/localnet/standIns/solana'
import { hashMessage, parseSignature } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { signDigest, signEd25519 } from '../../packages/core/test/vectors/ownerKeys.ts'
import { payloadCallData } from '../../packages/localnet/src/deploy/callRequest.ts'
import {
  depositOnHyperliquid,
  fundedHyperliquidUser,
  hyperliquidChainId,
  spotDollars,
} from './hyperliquidSettling.ts'
import {
  apiKeyIndex,
  depositOnLighter,
  emptyLighterAccount,
  fundedLighterUser,
  heldOnLighter,
  lighterChainId,
  lighterDepository,
  perpsDollars,
} from './lighterSettling.ts'
import type { SixFamilies } from './sixFamilies.ts'
import { solanaChainId } from './solanaService.ts'
import { instructionsOf } from './solanaSettling.ts'
import { executeQuote, executeStep, fundedUser, tronChainId, tronUserOf, trx } from './tronSettling.ts'

export const recoveryFamilies = ['solana', 'tron', 'hyperliquid', 'lighter'] as const
export type RecoveryFamily = (typeof recoveryFamilies)[number]

export type RecoveryWallet = {
  readonly account: string
  readonly key: Hex
  deposit(quote: QuoteAnswer): Promise<unknown>
}

export type RecoverySide = {
  readonly origin: { readonly chainId: number; readonly currency: string; readonly amount: string }
  /** Somebody who holds it; each time somebody else where `funded` makes one. */
  wallet(): Promise<RecoveryWallet>
  /** An account that holds nothing of it yet, and the key that an owner of the family signs with. */
  stranger(): { readonly account: string; readonly key: Hex }
  /** As wallets of the family sign the text of a withdrawal. */
  sign(hash: Uint8Array, key: Hex): Hex
  /** A payee, and what he holds. */
  payee(): Promise<{ readonly recipient: string; held(): Promise<bigint> }>
  additionalData?(): Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Anybody brings payload and signature to the chain. @returns the transaction id */
  pay(payload: Hex, signature: Hex): Promise<string>
}

const digits = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export const signOnEvm = (hash: Uint8Array, key: Hex): Hex =>
  signDigest(hexToBytes(hashMessage({ raw: hash })), hexToBytes(key))

const signOnTron = (hash: Uint8Array, key: Hex): Hex =>
  signDigest(keccak256(Buffer.from(`\x19TRON Signed Message:\n64${digits(hash)}`)), hexToBytes(key))

export function recoverySides({ chains, url }: SixFamilies): Readonly<Record<RecoveryFamily, RecoverySide>> {
  const { solana, tron, hyperliquid, lighter } = chains
  const { Keypair } = solanaLibrary()
  const keypair = () => {
    const key = generatePrivateKey()
    return { key, account: Keypair.fromSeed(hexToBytes(key)).publicKey.toBase58() }
  }
  const { bed } = solana
  return {
    solana: {
      origin: { chainId: solanaChainId, currency: bed.mint.toBase58(), amount: '200000000' },
      wallet: async () => ({
        account: bed.user.publicKey.toBase58(),
        key: `0x${digits(bed.user.secretKey.slice(0, 32))}`,
        deposit: (quote) => bed.send(instructionsOf(quote)),
      }),
      stranger: keypair,
      sign: (hash, key) => signEd25519(digits(hash), hexToBytes(key)),
      async payee() {
        const owner = Keypair.generate().publicKey
        await bed.send([createTokenAccount({ payer: bed.user.publicKey, owner, mint: bed.mint })])
        const held = async () => {
          const { value } = await bed.connection.getTokenAccountBalance(tokenAccount(owner, bed.mint))
          return BigInt(value.amount)
        }
        return { recipient: owner.toBase58(), held }
      },
      pay(payload) {
        const request = decodeSolanaWithdrawal(payload)
        const order = { executor: bed.user.publicKey, request, withdrawalId: solanaWithdrawalId(request) }
        return bed.send([executeTransfer(bed.depository, order)])
      },
    },
    tron: {
      origin: { chainId: tronChainId, currency: trx, amount: '200000000' },
      async wallet() {
        const user = await fundedUser(tron)
        return {
          account: user.address,
          key: user.key,
          deposit: (quote) => executeQuote(tron, quote, user),
        }
      },
      stranger() {
        const { address: account, key } = tronUserOf(generatePrivateKey())
        return { account, key }
      },
      sign: signOnTron,
      async payee() {
        const { address: recipient } = tronUserOf(generatePrivateKey())
        const { client } = tron.evm.network.chains.base.chain
        return { recipient, held: () => client.getBalance({ address: tronHexAddress(recipient) }) }
      },
      async pay(payload, signature) {
        const payer = await fundedUser(tron)
        const in41 = (address: Hex) => `41${address.slice(2)}`
        const parameter = {
          owner_address: in41(tronHexAddress(payer.address)),
          contract_address: in41(tron.evm.deployment.depository),
          data: payloadCallData(payload, signature).slice(2),
        }
        // The node behind Tron has the number of Base, and a depository asks for its own chain's.
        const setNumber = (number: bigint) => tron.evm.node('anvil_setChainId', [Number(number)])
        await setNumber(tronNumber)
        try {
          return await executeStep(tron, { type: 'TriggerSmartContract', parameter }, payer)
        } finally {
          await setNumber(8_453n)
        }
      },
    },
    hyperliquid: {
      origin: { chainId: hyperliquidChainId, currency: spotDollars, amount: '20000000000' },
      async wallet() {
        const user = fundedHyperliquidUser(hyperliquid)
        return { ...user, deposit: (quote) => depositOnHyperliquid(hyperliquid, url, quote, user) }
      },
      stranger: () => fundedHyperliquidUser(hyperliquid),
      sign: signOnEvm,
      async payee() {
        // Nobody pays for an account that a withdrawal would need.
        const { account: recipient } = fundedHyperliquidUser(hyperliquid)
        const held = () => hyperliquid.venue.balanceOf(recipient, spotDollars)
        const before = held()
        return { recipient, held: async () => held() - before }
      },
      additionalData: () => ({
        'hyperliquid-vm': { currencyHyperliquidSymbol: 'USDC', currentTime: String(Date.now()) },
      }),
      async pay(payload, signature) {
        const { type, ...action } = decodeHyperliquidWithdrawal(payload)
        if (type !== 'SendAsset' || !('nonce' in action)) throw new Error('it sends no asset')
        const nonce = Number(action.nonce)
        const { r, s, v } = parseSignature(signature)
        const body = {
          action: { ...action, nonce, type: 'sendAsset', signatureChainId: '0xa4b1' },
          nonce,
          signature: { r, s, v: Number(v) },
        }
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(`${hyperliquid.nodes[0]?.url}/exchange`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        })
        const said = Object(await answer.json())
        if (said.status !== 'ok') throw new Error(`it was not taken: ${said.response}`)
        const { transactions } = hyperliquid.ledger
        const found = transactions.findLast(
          (one) => 'nonce' in one.action && one.action.nonce === action.nonce,
        )
        return found?.hash ?? ''
      },
    },
    lighter: {
      origin: { chainId: lighterChainId, currency: perpsDollars, amount: '200000000' },
      async wallet() {
        const user = fundedLighterUser(lighter)
        return { ...user, deposit: (quote) => depositOnLighter(lighter, quote, user) }
      },
      stranger: () => fundedLighterUser(lighter),
      sign: signOnEvm,
      async payee() {
        const recipient = emptyLighterAccount(lighter)
        return { recipient, held: async () => heldOnLighter(lighter, recipient) }
      },
      additionalData: () => ({
        'lighter-vm': {
          fromRouteType: '0',
          toRouteType: '0',
          apiKeyIndex: `${apiKeyIndex}`,
          assetIndex: '3',
          memo: '',
          nonce: lighter.exchange.nextNonce(lighterDepository, `${apiKeyIndex}`).toString(),
          usdcFee: lighter.exchange.transferFee.toString(),
        },
      }),
      async pay(payload, signature) {
        const transfer = decodeLighterWithdrawal(payload)
        const info = renderTransferInfo({
          FromAccountIndex: transfer.fromAccountIndex,
          ApiKeyIndex: transfer.apiKeyIndex,
          ToAccountIndex: transfer.toAccountIndex,
          AssetIndex: transfer.assetIndex,
          FromRouteType: transfer.fromRouteType,
          ToRouteType: transfer.toRouteType,
          Amount: transfer.amount,
          USDCFee: transfer.usdcFee,
          Nonce: transfer.nonce,
          Memo: [...hexToBytes(transfer.memo)],
          ExpiredAt: BigInt(Date.now()) + 600_000n,
        }).replace('"L1Sig":""', `"L1Sig":"${signature}"`)
        const body = new URLSearchParams({ tx_type: '12', tx_info: info })
        const sent = await fetch(`${lighter.nodes[0]?.url}/api/v1/sendTx`, { method: 'POST', body })
        const answer = Object(await sent.json())
        if (answer.code !== 200) throw new Error(`it was not taken: ${answer.message}`)
        return answer.tx_hash
      },
    },
  }
}

/** As the first block of Tron's stand-in names it. */
const tronNumber = 1_414_680_398n
