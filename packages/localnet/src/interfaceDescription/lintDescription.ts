import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

const root = join(import.meta.dirname, '../../../..')
const linter = join(root, 'node_modules/@redocly/cli/bin/cli.js')
const reportSchema = z.object({
  problems: z.array(z.object({ ruleId: z.string(), severity: z.string(), message: z.string() })),
})

/** Problems that `redocly lint` finds in an interface description by its recommended rules. Uses no network. */
export async function lintDescription(description: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-description-'))
  try {
    const file = join(folder, 'description.json')
    await writeFile(file, description)
    const settings = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const args = [linter, 'lint', file, '--extends', 'recommended', '--format', 'json']
    // The linter ends with code 1 where it finds problems; the error then holds its output.
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, ...settings },
    }).catch((error: unknown) => z.object({ stdout: z.string() }).parse(error))
    const { problems } = reportSchema.parse(JSON.parse(stdout.slice(stdout.indexOf('{'))))
    return problems.map(({ ruleId, severity, message }) => `${severity} ${ruleId}: ${message}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
