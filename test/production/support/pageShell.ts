// The commands of a page in one shell, as a reader types them.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Commands below one heading of a page, in their order. */
export type PageSection = { readonly heading: string; readonly blocks: readonly string[] }

/** The sections of a page that hold commands: what is fenced as `sh`, and nothing else. */
export async function sectionsOf(path: string): Promise<readonly PageSection[]> {
  const [, ...parts] = (await readFile(path, 'utf8')).split(/^## /m)
  return parts
    .map((part) => ({
      heading: part.slice(0, part.indexOf('\n')),
      blocks: [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block),
    }))
    .filter(({ blocks }) => blocks.length > 0)
}

export type PageShell = {
  /**
   * The shell is the reader's own: what fails ends nothing but its block.
   * @returns what it printed, both streams. @throws Error with it where a command of the block failed, or ended the shell
   */
  run(block: string): Promise<string>
  /** Ends the shell; what it started in the background stays. */
  close(): Promise<void>
}

/** One `bash` for all blocks: variables, functions and background jobs live on. */
export async function openShell(cwd: string, env: Readonly<Record<string, string>>): Promise<PageShell> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-page-'))
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  let listen = () => {}
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      listen()
    })
  }
  const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()))
  let count = 0
  return {
    async run(block) {
      count += 1
      const file = join(folder, `block-${count}.sh`)
      const end = new RegExp(`the end of block ${count}: (yes|no)\\n`)
      await writeFile(file, block)
      output = ''
      const finished = new Promise<void>((resolve) => {
        listen = () => end.test(output) && resolve()
        void ended.then(resolve)
      })
      // A file, so that no command of the block reads the commands after it.
      shell.stdin.write(`failed=no; trap 'failed=yes' ERR; . '${file}' < /dev/null; trap - ERR\n`)
      shell.stdin.write(`echo "the end of block ${count}: $failed"\n`)
      await finished
      const [, failed] = end.exec(output) ?? []
      if (failed !== 'no') {
        const what = failed === 'yes' ? 'a command of this block failed' : 'this block ended the shell'
        throw new Error(`${what}:\n${block}\nIt printed:\n${output}`)
      }
      return output.replace(end, '')
    },
    async close() {
      // It may wait for something that never comes.
      shell.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
