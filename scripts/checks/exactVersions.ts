import { parse } from 'yaml'
import { z } from 'zod'
import type { Check, Finding, RepositoryFile } from './finding.ts'

/** Also of a package under another name, where two versions of it are needed. */
const exactVersion = /^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
})
const catalogSchema = z.record(z.string(), z.string())
const workspaceSchema = z.object({ catalog: catalogSchema })

/** Manifests name the catalog or the workspace; the catalog holds one exact version each, all used. */
export const exactVersionsCheck: Check = { name: 'exact versions', find: findLooseVersions }

function findLooseVersions(files: readonly RepositoryFile[]): readonly Finding[] {
  const findings: Finding[] = []
  const used = new Set<string>()
  for (const { path, text } of files.filter((file) => /(^|\/)package\.json$/.test(file.path))) {
    const manifest = manifestSchema.parse(JSON.parse(text))
    for (const [name, version] of Object.values(manifest).flatMap((group) => Object.entries(group))) {
      if (version === 'catalog:') used.add(name)
      else if (version !== 'workspace:*')
        findings.push({ file: path, problem: `${name} is "${version}"; write "catalog:" or "workspace:*"` })
    }
  }
  for (const { path, text } of files.filter((file) => file.path === 'pnpm-workspace.yaml')) {
    for (const [name, version] of Object.entries(workspaceSchema.parse(parse(text)).catalog)) {
      if (!exactVersion.test(version))
        findings.push({ file: path, problem: `${name} is "${version}"; pin one version` })
      if (!used.has(name))
        findings.push({ file: path, problem: `${name} is in the catalog but in no package` })
    }
  }
  return findings
}
