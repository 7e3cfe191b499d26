import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { freeLoopbackPort } from '@causeway/database'
import { isFreePort } from './ports.ts'
import { collectOutput, type ProcessOutput } from './processOutput.ts'
import { resendStuckTransactions } from './resendStuckTransactions.ts'

export type AnvilOptions = {
  readonly chainId: number
  /** Default: a free port. */
  readonly port?: number
  /** Extra command line, e.g. `['--block-time', '2', '--mixed-mining']`. */
  readonly args?: readonly string[]
  /** File that the node's output is appended to; default: kept in memory for the error message. */
  readonly logFile?: string
  /** True gives the node a process group of its own, so that Ctrl-C in the terminal reaches only its starter. */
  readonly detached?: boolean
  /** Called with the process id before the node answers anything. */
  readonly onSpawn?: (pid: number) => Promise<void>
}

/** A running anvil node. */
export type Anvil = {
  readonly chainId: number
  readonly url: string
  readonly port: number
  readonly pid: number
  /** SIGTERM, so that a `--state` file is written; resolves when the process is gone. */
  stop(): Promise<void>
  readonly process: ChildProcess
}

const startTimeoutMs = 60_000
/** A node with a large state needs seconds to write it. */
const stopTimeoutMs = 15_000

/** The node binary itself, so that signals reach it and not a wrapper. */
function anvilBinary(): string {
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  return join(dirname(createRequire(wrapper).resolve(`${name}/package.json`)), 'bin', 'anvil')
}

/** Starts one node on loopback and waits for its first answer. @throws Error with the node's last output */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { chainId } = options
  const port = options.port ?? (await freeLoopbackPort())
  // Another node on the port would answer in our node's place.
  if (!(await isFreePort(port))) throw new Error(`port ${port} is taken`)
  const url = `http://127.0.0.1:${port}`
  const output = collectOutput(options.logFile)
  const child = spawnAnvil({ ...options, port }, output)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null

  const { pid } = child
  if (pid === undefined) throw new Error('anvil has no process id')
  await options.onSpawn?.(pid)
  const deadline = Date.now() + startTimeoutMs
  // An answer counts only while our own process runs: somebody else may have taken the port meanwhile.
  while (!(await answers(url, chainId)) || hasEnded()) {
    if (hasEnded() || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`anvil for chain ${chainId} did not start: ${output.tail()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  const stopResending = resendStuckTransactions(url)
  void exited.then(stopResending)
  return {
    chainId,
    url,
    port,
    pid,
    process: child,
    async stop() {
      if (hasEnded()) return
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      await exited
      clearTimeout(force)
    },
  }
}

function spawnAnvil(options: AnvilOptions & { readonly port: number }, output: ProcessOutput): ChildProcess {
  const { port, chainId, args = [], detached = false } = options
  const fixedArgs = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--silent']
  const child = spawn(anvilBinary(), [...fixedArgs, ...args], {
    stdio: ['ignore', output.stdio, output.stdio],
    detached,
  })
  output.attach(child)
  return child
}

async function answers(url: string, chainId: number): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
    })
    const body: unknown = await response.json()
    const isAnswer = typeof body === 'object' && body !== null && 'result' in body
    return isAnswer && body.result === `0x${chainId.toString(16)}`
  } catch {
    return false
  }
}
