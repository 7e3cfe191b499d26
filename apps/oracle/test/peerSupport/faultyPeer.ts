import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FaultyPeerMode, tamper } from './tamper.ts'

export type FaultyPeer = {
  readonly url: string
  /** Lines that the process has printed after its address. */
  readonly printed: readonly string[]
  kill(): void
  stop(): Promise<void>
}

/** Starts one misbehaving peer as a process of its own. */
export async function startFaultyPeer(
  mode: FaultyPeerMode,
  answers: { readonly truth: unknown; readonly other?: unknown },
): Promise<FaultyPeer> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-peer-'))
  const file = join(folder, 'answer.json')
  writeFileSync(file, JSON.stringify(mode === 'anotherFact' ? answers.other : tamper(answers.truth, mode)))
  const script = fileURLToPath(new URL('./faultyPeerProcess.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, mode, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed: string[] = []
  const url = await firstLine(child, printed)
  return {
    url,
    printed,
    kill: () => child.kill('SIGKILL'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await exited
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function firstLine(child: ChildProcess, printed: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    let isStarted = false
    child.once('exit', () => reject(new Error('the peer ended before it listened')))
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        if (isStarted) printed.push(line)
        else resolve(line)
        isStarted = true
      }
    })
  })
}
