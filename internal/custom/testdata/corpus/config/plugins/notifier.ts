import type { Plugin } from "@opencode-ai/plugin"
import { basename } from "path"

/** Tells when a session is done. */
export const Notifier: Plugin = async ({ client, $, directory, project }) => {
  const name = basename(directory)
  const seen = new Map<string, number>()

  const notify = async (title: string, message: string) => {
    await $`printf '%s: %s\n' ${title} "${message}" >> ${directory}/notices.txt`.quiet().nothrow()
    await client.tui.showToast({ body: { title, message, variant: "info" } })
  }

  return {
    event: async ({ event }) => {
      switch (event.type) {
        case "session.idle": {
          const id = event.properties.sessionID
          const session = await client.session.get({ path: { id } })
          if (session.data?.parentID) return
          const { data: messages } = await client.session.messages({ path: { id } })
          const last = messages?.findLast((m: any) => m.info.role === "assistant")
          const text = last?.parts.find((p: any) => p.type === "text")?.text ?? ""
          seen.set(id, (seen.get(id) ?? 0) + 1)
          await notify(`${name} is done`, `${session.data?.title} (${seen.get(id)}): ${text}`)
          break
        }
        case "session.error":
          await notify("Error", event.properties.error?.data?.message ?? "unknown")
          break
        case "permission.asked":
        case "permission.updated":
          await notify("Question", event.properties.title ?? event.properties.permission ?? "?")
          break
      }
    },
  }
}
