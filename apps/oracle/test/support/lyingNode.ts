import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Lie } from './lies.ts'

export type LyingNode = {
  readonly url: string
  /** In force when it resolves. */
  tell(lie: Lie): Promise<void>
  stop(): Promise<void>
}

/** A node in front of another one, in a process of its own; truthful at first. */
export async function startLyingNode(targetUrl: string): Promise<LyingNode> {
  const script = fileURLToPath(new URL('./lyingNodeProcess.ts', import.meta.url))
  const child = spawn(process.execPath, [script, targetUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()))
    child.once('exit', () => reject(new Error('the lying node ended')))
  })
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    async tell(lie) {
      const response = await fetch(`${url}/lie`, { method: 'POST', body: JSON.stringify(lie) })
      if (!response.ok) throw new Error('the lie was not understood')
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
