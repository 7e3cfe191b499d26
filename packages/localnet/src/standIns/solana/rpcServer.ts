import { createServer } from 'node:http'
import { encodeBase58 } from '@causeway/core'
import { memoProgram, token2022Program, tokenProgram } from '@causeway/families/rules'
import { VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { closeServer, listenOnLoopback } from '../http/listen.ts'
import {
  blockViewSchema,
  RpcRefusal,
  refuseUnsupported,
  showBlock,
  transactionViewSchema,
  unsupportedVersion,
} from './blockAnswers.ts'
import { computeBudgetOf } from './computeBudget.ts'
import type { Commitment, SolanaNode } from './solanaNode.ts'
import { type StoredTransaction, tokenAmount, toTransactionResult } from './storedTransaction.ts'
import { serveSubscriptions } from './subscriptions.ts'
import { readWireTransaction } from './wireTransaction.ts'

type Method = (node: SolanaNode, params: readonly unknown[]) => unknown

const commitmentOf = (options: unknown): Commitment =>
  z
    .object({ commitment: z.enum(['processed', 'confirmed', 'finalized']).optional() })
    .optional()
    .parse(options ?? {})?.commitment ?? 'finalized'
const parseText = (value: unknown) => z.string().parse(value)

/** Refuses other encodings than `base64`, as this node has no other. */
function requireBase64(options: unknown): void {
  if (z.object({ encoding: z.literal('base64') }).safeParse(options).success) return
  throw new RpcRefusal(-32_602, 'this node encodes base64 only')
}

/** Answers of the node by JSON-RPC method. */
const methods: Readonly<Record<string, Method>> = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'feature-set': 0, 'solana-core': 'litesvm-1.5.0' }),
  getGenesisHash: (node) => node.genesisHash,
  getSlot: (node, [options]) => Number(node.slot(commitmentOf(options))),
  // This node counts skipped slots as blocks too; a blockhash is valid for 150 blocks.
  getBlockHeight: (node, [options]) => Number(node.slot(commitmentOf(options))),
  getLatestBlockhash: (node, [options]) => ({
    context: { slot: Number(node.slot(commitmentOf(options))) },
    value: {
      blockhash: node.latestBlockhash(),
      lastValidBlockHeight: Number(node.slot('processed')) + 150,
    },
  }),
  getMinimumBalanceForRentExemption: (node, [length]) => Number(node.rentExemption(z.number().parse(length))),
  getBalance: (node, [key, options]) => ({
    context: { slot: Number(node.slot(commitmentOf(options))) },
    value: Number(node.account(parseText(key), commitmentOf(options))?.lamports ?? 0n),
  }),
  requestAirdrop(node, [key, amount]) {
    node.airdrop(parseText(key), BigInt(z.number().int().parse(amount)))
    // A signature of no transaction: the lamports come from nothing.
    return '1'.repeat(64)
  },
  getRecentPrioritizationFees: (node, [accounts = []]) =>
    node.recentUnitPrices(z.array(z.string()).max(128).parse(accounts)).map(([slot, price]) => ({
      slot: Number(slot),
      prioritizationFee: Number(price),
    })),
  getFeeForMessage(node, [message, options]) {
    const bytes = Buffer.from(parseText(message), 'base64')
    const { feeLamports } = computeBudgetOf(VersionedMessage.deserialize(bytes))
    return { context: { slot: Number(node.slot(commitmentOf(options))) }, value: Number(feeLamports) }
  },
  getAccountInfo,
  getTokenAccountBalance,
  getMultipleAccounts,
  getSignaturesForAddress,
  simulateTransaction,
  getTransaction,
  getSignatureStatuses,
  getBlock,
  sendTransaction,
}

function getAccountInfo(node: SolanaNode, [key, options]: readonly unknown[]): unknown {
  const { context, showAccount } = createAccountView(node, options)
  return { context, value: showAccount(parseText(key)) }
}

/** @source Solana JSON-RPC documentation, getTokenAccountBalance */
function getTokenAccountBalance(node: SolanaNode, [key, options]: readonly unknown[]): unknown {
  const commitment = commitmentOf(options)
  const account = node.account(parseText(key), commitment)
  if (account === undefined) throw new RpcRefusal(-32_602, 'Invalid param: could not find account')
  const isOfTokenProgram = account.owner === tokenProgram || account.owner === token2022Program
  if (!isOfTokenProgram || account.data.length < tokenAccountBytes)
    throw new RpcRefusal(-32_602, 'Invalid param: not a Token account')
  const data = Buffer.from(account.data)
  const mint = encodeBase58(data.subarray(0, 32))
  const decimals = node.account(mint, commitment)?.data[mintDecimalsAt] ?? 0
  const context = { slot: Number(node.slot(commitment)) }
  return { context, value: tokenAmount(data.readBigUInt64LE(tokenAmountAt), decimals) }
}

const tokenAccountBytes = 165
const tokenAmountAt = 64
const mintDecimalsAt = 44

/** Most accounts of one request. */
const keysMax = 100

function getMultipleAccounts(node: SolanaNode, [keys, options]: readonly unknown[]): unknown {
  const { context, showAccount } = createAccountView(node, options)
  return { context, value: z.array(z.string()).max(keysMax).parse(keys).map(showAccount) }
}

/** The function that shows accounts by the options of a request, and the slot at which it reads them. */
function createAccountView(node: SolanaNode, options: unknown) {
  requireBase64(options)
  const commitment = commitmentOf(options)
  const slot = node.slot(commitment)
  const { minContextSlot, dataSlice } = z
    .object({
      minContextSlot: z.number().optional(),
      dataSlice: z.object({ offset: z.number(), length: z.number() }).optional(),
    })
    .parse(options)
  if (minContextSlot !== undefined && BigInt(minContextSlot) > slot) {
    throw new RpcRefusal(-32_016, 'Minimum context slot has not been reached')
  }
  const showAccount = (key: string) => {
    const account = node.account(key, commitment)
    if (account === undefined) return null
    const { lamports, owner, executable, data } = account
    const shownData =
      dataSlice === undefined ? data : data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length)
    return {
      lamports: Number(lamports),
      owner,
      executable,
      rentEpoch: 0,
      space: data.length,
      data: [Buffer.from(shownData).toString('base64'), 'base64'],
    }
  }
  return { context: { slot: Number(slot) }, showAccount }
}

function getSignaturesForAddress(node: SolanaNode, [address, options]: readonly unknown[]): unknown {
  const { limit, before, until } = z
    .object({
      limit: z.number().int().min(1).max(1_000).default(1_000),
      before: z.string().optional(),
      until: z.string().optional(),
    })
    .parse(options ?? {})
  const isFinalOnly = commitmentOf(options) === 'finalized'
  const all = node
    .transactionsOf(parseText(address))
    .filter(([, stored]) => !isFinalOnly || node.isFinal(stored))
  // The newest come first. Both limits are left out themselves, and an unknown one limits nothing.
  const start = before === undefined ? 0 : all.findIndex(([signature]) => signature === before) + 1
  const end = until === undefined ? -1 : all.findIndex(([signature]) => signature === until)
  return all
    .slice(start, end === -1 ? undefined : end)
    .slice(0, limit)
    .map(([signature, stored]) => ({
      signature,
      slot: Number(stored.slot),
      err: stored.error,
      memo: memoText(stored),
      blockTime: Number(node.block(stored.slot)?.timeSeconds ?? 0),
      confirmationStatus: node.isFinal(stored) ? 'finalized' : 'confirmed',
    }))
}

/** The memos of a transaction as nodes show them: of each the length in brackets and the text. */
function memoText({ bytes }: StoredTransaction): string | null {
  const { staticAccountKeys, compiledInstructions } = VersionedTransaction.deserialize(bytes).message
  const memos = compiledInstructions.flatMap(({ programIdIndex, data }) =>
    staticAccountKeys[programIdIndex]?.toBase58() === memoProgram
      ? [`[${data.length}] ${Buffer.from(data).toString()}`]
      : [],
  )
  return memos.length === 0 ? null : memos.join('; ')
}

/** Signatures are never checked here, also with `sigVerify`. */
function simulateTransaction(node: SolanaNode, [encoded, options]: readonly unknown[]): unknown {
  requireBase64(options)
  const { sigVerify, replaceRecentBlockhash: replacesBlockhash } = z
    .object({ sigVerify: z.boolean().default(false), replaceRecentBlockhash: z.boolean().default(false) })
    .parse(options)
  if (sigVerify && replacesBlockhash) {
    throw new RpcRefusal(-32_602, 'sigVerify may not be used with replaceRecentBlockhash')
  }
  const { wire } = readSent(encoded)
  const { error, logs, units } = node.simulate(wire, { replacesBlockhash })
  return {
    context: { slot: Number(node.slot(commitmentOf(options))) },
    value: { err: error, logs, accounts: null, unitsConsumed: Number(units), returnData: null },
  }
}

/** Reads a transaction in base64. @throws RpcRefusal for bytes that are none */
function readSent(encoded: unknown) {
  const bytes = new Uint8Array(Buffer.from(parseText(encoded), 'base64'))
  const wire = readWireTransaction(bytes)
  if (wire === undefined) throw new RpcRefusal(-32_602, 'failed to deserialize the transaction')
  return { bytes, wire }
}

function getTransaction(node: SolanaNode, [signature, options]: readonly unknown[]): unknown {
  const shown = transactionViewSchema.parse(options ?? {})
  const stored = node.transaction(parseText(signature))
  if (stored === undefined) return null
  if (commitmentOf(options) === 'finalized' && !node.isFinal(stored)) return null
  refuseUnsupported(unsupportedVersion(stored, shown))
  const timeSeconds = node.block(stored.slot)?.timeSeconds ?? null
  return toTransactionResult(stored, { timeSeconds, encoding: shown.encoding })
}

function getSignatureStatuses(node: SolanaNode, [signatures]: readonly unknown[]): unknown {
  const value = z
    .array(z.string())
    .parse(signatures)
    .map((signature) => {
      const stored = node.transaction(signature)
      if (stored === undefined) return null
      const isFinal = node.isFinal(stored)
      return {
        slot: Number(stored.slot),
        confirmations: isFinal ? null : 1,
        err: stored.error,
        confirmationStatus: isFinal ? 'finalized' : 'confirmed',
      }
    })
  return { context: { slot: Number(node.slot('processed')) }, value }
}

function getBlock(node: SolanaNode, [number, options]: readonly unknown[]): unknown {
  const slot = BigInt(z.number().int().parse(number))
  const shown = blockViewSchema.parse(options ?? {})
  if (slot > node.slot(commitmentOf(options))) {
    throw new RpcRefusal(-32_004, `Block not available for slot ${slot}`)
  }
  const block = showBlock(node, slot, shown)
  if ('unsupported' in block) return refuseUnsupported(block.unsupported)
  if (block.block === null) {
    throw new RpcRefusal(
      -32_007,
      `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
    )
  }
  return block.block
}

function sendTransaction(node: SolanaNode, [encoded, options]: readonly unknown[]): unknown {
  requireBase64(options)
  const { skipPreflight } = z.object({ skipPreflight: z.boolean().default(false) }).parse(options)
  const { bytes } = readSent(encoded)
  const outcome = node.send(bytes, { skipPreflight })
  if ('signature' in outcome) return outcome.signature
  throw new RpcRefusal(-32_002, `Transaction simulation failed: ${outcome.refusal}`)
}

const request = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()).default([]) })

function answer(node: SolanaNode, body: unknown): unknown {
  const { id, method, params } = request.parse(body)
  const refused = (code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })
  const run = methods[method]
  if (run === undefined) return refused(-32_601, 'Method not found')
  try {
    return { jsonrpc: '2.0', id, result: run(node, params) }
  } catch (error) {
    if (error instanceof RpcRefusal) return refused(error.code, error.message)
    if (error instanceof z.ZodError) return refused(-32_602, 'Invalid params')
    throw error
  }
}

export type RpcServer = { readonly url: string; stop(): Promise<void> }

/** Starts the JSON-RPC of a node on loopback: HTTP with single calls and batches, and subscriptions. @param port default: a free one */
export async function startRpcServer(node: SolanaNode, port = 0): Promise<RpcServer> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const result = Array.isArray(body) ? body.map((one) => answer(node, one)) : answer(node, body)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(result))
  })
  const endSubscriptions = serveSubscriptions(node, server)
  const url = await listenOnLoopback(server, port)
  return {
    url,
    stop: () => {
      endSubscriptions()
      return closeServer(server)
    },
  }
}
